//! SQL for the `marks` table, which has at most one mark per exchange.

use async_trait::async_trait;
use memoir_core::{ExchangeId, ExchangeMark, Mark, Timestamp};
use memoir_store::{Marks, Result};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::SqlResultExt as _, rows::to_json_list};

#[async_trait]
impl Marks for SqliteStore {
    async fn set_mark(&self, exchange: ExchangeId, mark: Option<Mark>, at: Timestamp) -> Result<bool> {
        let Some(mark) = mark else {
            sqlx::query("DELETE FROM marks WHERE exchange_id = ?")
                .bind(exchange.get())
                .execute(self.writer().await?)
                .await
                .or_store_error()?;
            let exists: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM exchanges WHERE id = ?)")
                .bind(exchange.get())
                .fetch_one(&self.readers)
                .await
                .or_store_error()?;
            return Ok(exists);
        };
        let result = sqlx::query(
            "INSERT INTO marks (exchange_id, mark, created) SELECT id, ?2, ?3 FROM exchanges WHERE id = ?1
             ON CONFLICT DO UPDATE SET mark = excluded.mark, created = excluded.created",
        )
        .bind(exchange.get())
        .bind(mark.as_str())
        .bind(at.as_millis())
        .execute(self.writer().await?)
        .await
        .or_store_error()?;
        Ok(result.rows_affected() == 1)
    }

    async fn exchange_marks(&self, exchanges: &[ExchangeId]) -> Result<Vec<ExchangeMark>> {
        sqlx::query("SELECT * FROM marks WHERE exchange_id IN (SELECT value FROM json_each(?))")
            .bind(to_json_list(exchanges.iter().map(|id| id.get())))
            .try_map(read_mark)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn marks(&self) -> Result<Vec<ExchangeMark>> {
        sqlx::query("SELECT * FROM marks ORDER BY created DESC, exchange_id DESC")
            .try_map(read_mark)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }
}

fn read_mark(row: SqliteRow) -> Result<ExchangeMark, sqlx::Error> {
    Ok(ExchangeMark {
        exchange_id: ExchangeId::new(row.try_get("exchange_id")?),
        mark: match row.try_get("mark")? {
            "pinned" => Mark::Pinned,
            _ => Mark::Wrong,
        },
        created: Timestamp::from_millis(row.try_get("created")?),
    })
}
