//! How a turn can fail. Whichever way it does, nothing of it is in memory.

use memoir_models::ModelError;
use memoir_store::StoreError;

/// Why a turn gave no answer, or why its answer could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The user did not want to wait for it.
    #[error("cancelled")]
    Cancelled,
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Memory could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The answer is there, and was paid for, but memory could not take it.
    #[error("the answer could not be kept: {source}")]
    NotKept {
        /// The answer.
        answer: String,
        /// Why.
        source: StoreError,
    },
}
