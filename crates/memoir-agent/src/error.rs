//! How a turn can fail. Whichever way it does, nothing of it is in memory.

use memoir_core::ConversationId;
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
