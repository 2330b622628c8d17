//! SQL for counts over the whole memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use memoir_core::{Timestamp, Usd};
use memoir_store::{ActivityCount, Result, Statistics};

use super::{SqliteStore, error::SqlResultExt as _};

#[async_trait]
impl Statistics for SqliteStore {
    async fn activity(&self, since: Timestamp) -> Result<Vec<ActivityCount>> {
        let mut counts: BTreeMap<i64, ActivityCount> = BTreeMap::new();
        let empty = |slot: i64| ActivityCount {
            start: Timestamp::from_millis(slot * ActivityCount::MILLIS),
            exchanges: 0,
            messages: 0,
            tokens: 0,
            cost: Usd::ZERO,
        };
        // Reads only the beginning of exchanges, and an index of messages.
        let exchanges: Vec<(i64, u64, u64)> = sqlx::query_as(
            "SELECT started / ?1 AS slot, count(*),
                    sum((SELECT count(*) FROM messages WHERE exchange_id = exchanges.id))
             FROM exchanges WHERE started >= ?2 GROUP BY slot",
        )
        .bind(ActivityCount::MILLIS)
        .bind(since.as_millis())
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        for (slot, exchanges, messages) in exchanges {
            let count = counts.entry(slot).or_insert_with(|| empty(slot));
            (count.exchanges, count.messages) = (exchanges, messages);
        }
        let calls: Vec<(i64, u64, i64)> = sqlx::query_as(
            "SELECT created / ?1 AS slot, sum(input_tokens + output_tokens), coalesce(sum(cost), 0)
             FROM costs WHERE created >= ?2 GROUP BY slot",
        )
        .bind(ActivityCount::MILLIS)
        .bind(since.as_millis())
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        for (slot, tokens, cost) in calls {
            let count = counts.entry(slot).or_insert_with(|| empty(slot));
            (count.tokens, count.cost) = (tokens, Usd::from_nanos(cost));
        }
        Ok(counts.into_values().collect())
    }

    async fn projects(&self) -> Result<Vec<String>> {
        sqlx::query_scalar("SELECT DISTINCT scope FROM conversations ORDER BY scope")
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn programs(&self) -> Result<Vec<String>> {
        sqlx::query_scalar(
            "SELECT DISTINCT program FROM exchanges WHERE program IS NOT NULL ORDER BY program",
        )
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }
}
