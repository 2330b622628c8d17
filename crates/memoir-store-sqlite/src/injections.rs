//! SQL for what was added to prompts of other programs.

use async_trait::async_trait;
use memoir_core::{
    DocumentId, ExchangeId, ExchangeSource, InjectedItem, InjectedSubject, Injection, Timestamp,
};
use memoir_store::{Injections, Result};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::SqlResultExt as _, rows::to_signed};

/// Number of injections to keep. Programs cause one per prompt.
const MAX_INJECTIONS: i64 = 10_000;

#[async_trait]
impl Injections for SqliteStore {
    async fn record_injection(&self, injection: &Injection) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO injections (program, session, scope, event, created) VALUES (?, ?, ?, ?, ?) RETURNING id",
        )
        .bind(&injection.source.program)
        .bind(&injection.source.session)
        .bind(&injection.scope)
        .bind(&injection.event)
        .bind(injection.created.as_millis())
        .fetch_one(&mut *transaction)
        .await
        .or_store_error()?;
        for (position, item) in (0_i64..).zip(&injection.items) {
            let (exchange, document) = match item.subject {
                InjectedSubject::Exchange(exchange) => (Some(exchange.get()), None),
                InjectedSubject::Document(document) => (None, Some(document.get())),
            };
            // Nothing is recorded if the subject has been deleted since.
            sqlx::query(
                "INSERT INTO injected_items (injection_id, position, exchange_id, document_id, reason, tokens)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6
                 WHERE EXISTS (SELECT 1 FROM exchanges WHERE id = ?3) OR EXISTS (SELECT 1 FROM documents WHERE id = ?4)",
            )
            .bind(id)
            .bind(position)
            .bind(exchange)
            .bind(document)
            .bind(&item.reason)
            .bind(to_signed(item.tokens))
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        }
        sqlx::query("DELETE FROM injections WHERE id <= ?")
            .bind(id - MAX_INJECTIONS)
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        transaction.commit().await.or_store_error()
    }

    async fn injections(&self, scope: Option<&str>, limit: u32) -> Result<Vec<Injection>> {
        let rows: Vec<(i64, Injection)> =
            sqlx::query("SELECT * FROM injections WHERE ?1 IS NULL OR scope = ?1 ORDER BY id DESC LIMIT ?2")
                .bind(scope)
                .bind(limit)
                .try_map(|row: SqliteRow| Ok((row.try_get("id")?, read_injection(&row)?)))
                .fetch_all(&self.readers)
                .await
                .or_store_error()?;
        let mut injections = Vec::new();
        for (id, injection) in rows {
            let items = sqlx::query("SELECT * FROM injected_items WHERE injection_id = ? ORDER BY position")
                .bind(id)
                .try_map(read_item)
                .fetch_all(&self.readers)
                .await
                .or_store_error()?;
            injections.push(Injection { items, ..injection });
        }
        Ok(injections)
    }

    async fn recalled_for(&self, exchange: ExchangeId) -> Result<Vec<InjectedItem>> {
        sqlx::query(
            "SELECT messages.exchange_id, chunks.document_id, recall_log.reason, sum(recall_log.tokens) AS tokens
             FROM recall_log
                  LEFT JOIN messages ON messages.id = recall_log.message_id
                  LEFT JOIN chunks ON chunks.id = recall_log.chunk_id
             WHERE recall_log.exchange_id = ?
             GROUP BY messages.exchange_id, chunks.document_id
             ORDER BY min(recall_log.id)",
        )
        .bind(exchange.get())
        .try_map(read_item)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }
}

fn read_injection(row: &SqliteRow) -> Result<Injection, sqlx::Error> {
    Ok(Injection {
        source: ExchangeSource { program: row.try_get("program")?, session: row.try_get("session")? },
        scope: row.try_get("scope")?,
        event: row.try_get("event")?,
        created: Timestamp::from_millis(row.try_get("created")?),
        items: Vec::new(),
    })
}

fn read_item(row: SqliteRow) -> Result<InjectedItem, sqlx::Error> {
    let subject = match row.try_get::<Option<i64>, _>("exchange_id")? {
        Some(id) => InjectedSubject::Exchange(ExchangeId::new(id)),
        None => InjectedSubject::Document(DocumentId::new(row.try_get("document_id")?)),
    };
    Ok(InjectedItem { subject, reason: row.try_get("reason")?, tokens: row.try_get("tokens")? })
}
