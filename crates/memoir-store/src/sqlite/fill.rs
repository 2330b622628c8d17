//! Filling a memory with made-up talk, for benchmarks.

use super::{SqliteStore, error::store_error};
use crate::Result;

impl SqliteStore {
    /// Adds `exchanges` exchanges of two messages each, twenty to a conversation, in one transaction.
    pub async fn fill_for_benchmark(&self, exchanges: i64) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for statement in [
            "INSERT INTO conversations (id, title, scope, model, created, updated)
             WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT (?1 + 19) / 20)
             SELECT i + 1, 'Conversation ' || i, '/made/up', 'made/up', i * 20000, i * 20000 + 19000 FROM n WHERE ?1 > 0",
            "INSERT INTO exchanges
                 (id, conversation_id, status, started, completed, user_message, assistant_message, model,
                  input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
                  cost, tool_call_count, request_count)
             WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT ?1)
             SELECT i + 1, i / 20 + 1, 'completed', i * 1000, i * 1000 + 900,
                    'question ' || i, 'answer ' || i, 'made/up', 10, 5, 0, 0, 0, 100, 0, 1 FROM n WHERE ?1 > 0",
            // Words from a vocabulary of a few thousand, so that the full-text index looks like one of talk.
            "INSERT INTO messages
                 (exchange_id, conversation_id, role, content, redacted, derived, tokens, created)
             SELECT id, conversation_id, role,
                    role || ' speaks of topic' || (id * 7919 % 3001) || ' and matter' || (id * 104729 % 2003)
                    || ' beside thing' || (id * 31 % 997) || ' in year ' || (1900 + id % 125),
                    0, 0, 16, started
             FROM exchanges, (SELECT 'user' AS role UNION ALL SELECT 'assistant')
             WHERE exchanges.model = 'made/up' AND ?1 > 0 ORDER BY id",
        ] {
            sqlx::query(statement).bind(exchanges).execute(&mut *transaction).await.map_err(store_error)?;
        }
        transaction.commit().await.map_err(store_error)
    }
}
