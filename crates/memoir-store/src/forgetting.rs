//! Deletes conversations, exchanges and messages together with everything derived from them.

use async_trait::async_trait;
use memoir_core::{ConversationId, Document, ExchangeId, MessageId, Timestamp};

use crate::Result;

/// Selects the content to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forget {
    /// One message. Its exchange is deleted too if no other message remains in it.
    Message(MessageId),
    /// One exchange. Its conversation is deleted too if no other exchange remains in it.
    Exchange(ExchangeId),
    /// One conversation with all its exchanges.
    Conversation(ConversationId),
    /// All exchanges that started within a time range.
    Span {
        /// Start of the range, inclusive.
        since: Option<Timestamp>,
        /// End of the range, exclusive.
        until: Option<Timestamp>,
    },
}

/// What a deletion removed or would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgetOutcome {
    /// Number of deleted conversations.
    pub conversations: u64,
    /// Number of deleted exchanges.
    pub exchanges: u64,
    /// Number of deleted messages.
    pub messages: u64,
    /// Number of summaries that covered the deleted content. Summaries of what remains are generated again.
    pub summaries: u64,
    /// Number of deleted command history lines.
    pub lines: u64,
    /// Number of deleted answers that quoted the deleted messages verbatim.
    pub quotations: u64,
    /// Exchanges whose prompts included the deleted messages. Their answers may paraphrase them.
    pub prompted_exchanges: Vec<ExchangeId>,
    /// Posts written from the affected conversations, which are deleted too.
    pub posts: Vec<Document>,
    /// Whether a concurrent reader prevented erasure, so that deleted text may remain in the database file or its log
    /// until the store is next opened.
    pub traces_remain: bool,
}

impl ForgetOutcome {
    /// Returns whether the selection matched no content.
    pub fn is_empty(&self) -> bool {
        self.messages == 0 && self.exchanges == 0 && self.conversations == 0
    }
}

/// Deletes content along with its embeddings, search index entries, summaries, jobs and recall records. Recorded costs
/// are kept.
#[async_trait]
pub trait Forgetting: Send + Sync {
    /// Returns what [`forget`](Self::forget) would delete.
    async fn preview_forget(&self, selection: Forget) -> Result<ForgetOutcome>;

    /// Deletes the selected content and erases its traces from the store's files.
    async fn forget(&self, selection: Forget) -> Result<ForgetOutcome>;

    /// Returns a number that grows whenever a message or document is deleted or no longer shared, so that copies of them
    /// can be dropped.
    async fn deletion_count(&self) -> Result<i64>;
}
