//! How a turn can fail. Whichever way it does, nothing of it is stored.

use memoir_models::ModelError;
use memoir_store::StoreError;

/// Why a turn gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The user did not want to wait for it.
    #[error("cancelled")]
    Cancelled,
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Memory failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
