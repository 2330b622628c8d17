//! The lineage of a conversation: the conversation and those it was forked from.

use memoir_core::ConversationId;
use memoir_store::Result;
use sqlx::Row as _;

use super::{SqliteStore, error::SqlResultExt as _};

/// The part of a conversation that belongs to a lineage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) conversation: ConversationId,
    /// Id of the last exchange that belongs to the lineage.
    pub(super) through: i64,
}

impl SqliteStore {
    /// Returns the whole conversation, then the part it was forked from, and so on. Exchanges of each further part have
    /// smaller ids, because ids grow in commit order.
    pub(super) async fn lineage(&self, conversation: ConversationId) -> Result<Vec<Part>> {
        let mut parts = vec![Part { conversation, through: i64::MAX }];
        while let Some(last) = parts.last().copied() {
            let parent = sqlx::query(
                "SELECT forked_from, forked_through FROM conversations WHERE id = ? AND forked_from < id",
            )
            .bind(last.conversation.get())
            .fetch_optional(&self.readers)
            .await
            .or_store_error()?;
            let Some(parent) = parent else { break };
            let through: i64 = parent.try_get("forked_through").or_store_error()?;
            parts.push(Part {
                conversation: ConversationId::new(parent.try_get("forked_from").or_store_error()?),
                through: through.min(last.through),
            });
        }
        Ok(parts)
    }
}
