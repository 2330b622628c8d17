//! SQL for the `costs` table, and for `_conversation_costs`, which a trigger keeps up to date.

use async_trait::async_trait;
use memoir_core::{CallCost, ConversationId, ExchangeId, Purpose, Timestamp, Usd};
use memoir_store::{CostFilter, CostLine, CostSummary, Costs, Result};
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    rows::{read_usage, to_signed},
};

#[async_trait]
impl Costs for SqliteStore {
    async fn record_calls(&self, conversation: Option<ConversationId>, calls: &[CallCost]) -> Result<()> {
        if calls.is_empty() {
            return Ok(());
        }
        let mut transaction = self.begin_write().await?;
        for call in calls {
            insert_cost(&mut transaction, conversation, None, call).await?;
        }
        transaction.commit().await.or_store_error()
    }

    async fn cost_lines(&self, filter: &CostFilter) -> Result<Vec<CostLine>> {
        sqlx::query(
            "SELECT purpose, model, count(*) AS calls,
                    sum(input_tokens) AS input_tokens,
                    sum(output_tokens) AS output_tokens,
                    sum(cached_tokens) AS cached_tokens,
                    sum(cache_write_tokens) AS cache_write_tokens,
                    sum(reasoning_tokens) AS reasoning_tokens,
                    coalesce(sum(cost), 0) AS cost,
                    count(*) - count(cost) AS unpriced_calls
             FROM costs
             WHERE (?1 IS NULL OR created >= ?1) AND (?2 IS NULL OR conversation_id = ?2)
             GROUP BY purpose, model ORDER BY coalesce(sum(cost), 0) DESC, purpose, model",
        )
        .bind(filter.since.map(Timestamp::as_millis))
        .bind(filter.conversation.map(ConversationId::get))
        .try_map(|row: SqliteRow| {
            Ok(CostLine {
                purpose: read_purpose(&row)?,
                model: row.try_get("model")?,
                summary: read_summary(&row)?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn conversation_cost(&self, conversation: ConversationId) -> Result<CostSummary> {
        let total = sqlx::query("SELECT * FROM _conversation_costs WHERE conversation_id = ?")
            .bind(conversation.get())
            .try_map(|row| read_summary(&row))
            .fetch_optional(&self.readers)
            .await;
        Ok(total.or_store_error()?.unwrap_or_default())
    }
}

fn read_purpose(row: &SqliteRow) -> Result<Purpose, sqlx::Error> {
    let purpose: &str = row.try_get("purpose")?;
    Purpose::parse(purpose)
        .ok_or_else(|| sqlx::Error::Decode(format!("unknown purpose \"{purpose}\"").into()))
}

fn read_summary(row: &SqliteRow) -> Result<CostSummary, sqlx::Error> {
    Ok(CostSummary {
        calls: row.try_get("calls")?,
        usage: read_usage(row)?,
        cost: Usd::from_nanos(row.try_get("cost")?),
        unpriced_calls: row.try_get("unpriced_calls")?,
    })
}

/// Records the cost of one call.
pub(super) async fn insert_cost(
    connection: &mut SqliteConnection,
    conversation: Option<ConversationId>,
    exchange: Option<ExchangeId>,
    call: &CallCost,
) -> Result<()> {
    sqlx::query(
        "INSERT INTO costs
             (conversation_id, exchange_id, purpose, model, input_tokens, output_tokens, cached_tokens,
              cache_write_tokens, reasoning_tokens, cost, created)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(conversation.map(ConversationId::get))
    .bind(exchange.map(ExchangeId::get))
    .bind(call.purpose.as_str())
    .bind(&call.model)
    .bind(to_signed(call.usage.input_tokens))
    .bind(to_signed(call.usage.output_tokens))
    .bind(to_signed(call.usage.cached_tokens))
    .bind(to_signed(call.usage.cache_write_tokens))
    .bind(to_signed(call.usage.reasoning_tokens))
    .bind(call.cost.map(Usd::as_nanos))
    .bind(call.created.as_millis())
    .execute(connection)
    .await
    .or_store_error()?;
    Ok(())
}
