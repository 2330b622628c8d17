//! How a turn can fail. Either way nothing of it is in memory.

use memoir_core::ConversationId;
use memoir_models::ModelError;
use memoir_store::StoreError;

/// Why a turn gave no answer, or why its answer could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The turn was cancelled by the user.
    #[error("cancelled")]
    Cancelled,
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Memory could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model answered, but the exchange could not be stored.
    #[error("the answer could not be kept: {source}")]
    NotKept {
        /// The answer, which was paid for.
        answer: String,
        /// Why it could not be stored.
        source: StoreError,
    },
    /// Another session has added to the conversation since this one last read it. Nothing of the turn is stored but its
    /// costs. To go on, resume the conversation and ask again.
    #[error("another session has added to conversation {conversation}")]
    Conflict {
        /// The conversation.
        conversation: ConversationId,
        /// The answer, which was paid for, or `None` if the change was noticed before the model was asked.
        answer: Option<String>,
    },
}
