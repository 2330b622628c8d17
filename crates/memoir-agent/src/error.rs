//! Errors of a turn. A failed turn stores nothing but its costs.

use memoir_core::ConversationId;
use memoir_models::ModelError;
use memoir_store::StoreError;

/// Reason why a turn has no answer, or why its answer could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The turn was cancelled by the user.
    #[error("cancelled")]
    Cancelled,
    /// The prompt has more than [`MAX_PROMPT_BYTES`](crate::MAX_PROMPT_BYTES) bytes.
    #[error("the prompt is too long")]
    PromptTooLong,
    /// The model returned an error.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The conversation could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model answered, but the exchange could not be stored.
    #[error("the answer could not be stored: {source}")]
    NotStored {
        /// The answer, which has been paid for.
        answer: String,
        /// Error of the store.
        source: StoreError,
    },
    /// Another session has added to the conversation since this one last read it. To continue, resume the
    /// conversation and send the prompt again.
    #[error("another session has added to conversation {conversation}")]
    Conflict {
        /// Conversation with the new exchanges.
        conversation: ConversationId,
        /// The answer, which has been paid for, or `None` if the conflict was detected before the model was asked.
        answer: Option<String>,
    },
}
