//! SQL of costs.

use async_trait::async_trait;
use memoir_core::{ConversationId, Usd};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::store_error, exchanges::usage};
use crate::{CostSummary, Costs, Result};

#[async_trait]
impl Costs for SqliteStore {
    async fn conversation_cost(&self, conversation: ConversationId) -> Result<CostSummary> {
        sqlx::query(
            "SELECT count(*) AS calls,
                    coalesce(sum(input_tokens), 0) AS input_tokens,
                    coalesce(sum(output_tokens), 0) AS output_tokens,
                    coalesce(sum(cached_tokens), 0) AS cached_tokens,
                    coalesce(sum(cache_write_tokens), 0) AS cache_write_tokens,
                    coalesce(sum(reasoning_tokens), 0) AS reasoning_tokens,
                    coalesce(sum(cost), 0) AS cost,
                    count(*) - count(cost) AS unpriced_calls
             FROM costs WHERE conversation_id = ?",
        )
        .bind(conversation.get())
        .try_map(summary)
        .fetch_one(&self.readers)
        .await
        .map_err(store_error)
    }
}

fn summary(row: SqliteRow) -> Result<CostSummary, sqlx::Error> {
    Ok(CostSummary {
        calls: row.try_get("calls")?,
        usage: usage(&row)?,
        cost: Usd::from_nanos(row.try_get("cost")?),
        unpriced_calls: row.try_get("unpriced_calls")?,
    })
}
