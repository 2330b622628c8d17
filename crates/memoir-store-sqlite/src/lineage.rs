//! A conversation and those that it branched off.

use memoir_core::ConversationId;
use memoir_store::Result;
use sqlx::Row as _;

use super::{SqliteStore, error::SqlResultExt as _};

/// A conversation, as far as it belongs to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) conversation: ConversationId,
    /// Its exchanges up to this one.
    pub(super) through: i64,
}

impl SqliteStore {
    /// Returns the conversation itself, whole, then what it branched off, and so on. Exchanges of a later part have smaller
    /// ids, because ids grow in the order of commits.
    pub(super) async fn lineage(&self, conversation: ConversationId) -> Result<Vec<Part>> {
        let mut line = vec![Part { conversation, through: i64::MAX }];
        while let Some(last) = line.last().copied() {
            let parent = sqlx::query(
                "SELECT forked_from, forked_through FROM conversations WHERE id = ? AND forked_from < id",
            )
            .bind(last.conversation.get())
            .fetch_optional(&self.readers)
            .await
            .or_store_error()?;
            let Some(parent) = parent else { break };
            let through: i64 = parent.try_get("forked_through").or_store_error()?;
            line.push(Part {
                conversation: ConversationId::new(parent.try_get("forked_from").or_store_error()?),
                through: through.min(last.through),
            });
        }
        Ok(line)
    }
}
