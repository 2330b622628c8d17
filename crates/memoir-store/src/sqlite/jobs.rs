//! SQL of work in the background.

use async_trait::async_trait;
use memoir_core::{Timestamp, WorkerKind};
use sqlx::{AssertSqlSafe, Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::store_error};
use crate::{Claim, Claimed, Job, JobFailure, Jobs, Result};

/// What there is to do for a worker: subjects, newest first. `?1` is the conversation that is left alone, `?2` whether
/// extracts are made anew.
fn to_do(worker: WorkerKind) -> Option<&'static str> {
    match worker {
        WorkerKind::ExchangeSummarizer => Some(
            "SELECT id AS subject, completed AS moment FROM exchanges
             WHERE summary IS NULL AND status = 'completed' AND conversation_id IS NOT ?1
             UNION ALL
             SELECT id, completed FROM exchanges
             WHERE summary_by = 'extract' AND ?2 AND status = 'completed' AND conversation_id IS NOT ?1",
        ),
        WorkerKind::ConversationSummarizer => Some(
            "SELECT id AS subject, updated AS moment FROM conversations
             WHERE id IS NOT ?1
               AND ((summary_by = 'extract' AND ?2)
                    OR coalesce(summary_through, 0) < (
                        SELECT coalesce(max(exchanges.id), 0) FROM exchanges
                        WHERE conversation_id = conversations.id AND status = 'completed'))",
        ),
        // Messages without vectors are found where they are.
        WorkerKind::EmbeddingGenerator => None,
    }
}

#[async_trait]
impl Jobs for SqliteStore {
    async fn claim(&self, claim: &Claim<'_>) -> Result<Option<Claimed>> {
        let Some(to_do) = to_do(claim.worker) else { return Ok(None) };
        sqlx::query(AssertSqlSafe(format!(
            "INSERT INTO jobs (worker, subject_id, state, attempts, due, leased_by, leased_till, updated)
             SELECT ?3, subject, 'waiting', 0, 0, ?4, ?6, ?5 FROM ({to_do})
             LEFT JOIN jobs AS known ON known.worker = ?3 AND known.subject_id = subject
             WHERE known.id IS NULL
                OR (known.state = 'waiting' AND known.due <= ?5 AND coalesce(known.leased_till, 0) <= ?5)
             ORDER BY moment DESC, subject DESC LIMIT 1
             ON CONFLICT (worker, subject_id) DO UPDATE SET
                 leased_by = excluded.leased_by, leased_till = excluded.leased_till, updated = excluded.updated
             RETURNING subject_id, attempts"
        )))
        .bind(claim.except.map(|id| id.get()))
        .bind(claim.redo_extracts)
        .bind(claim.worker.as_str())
        .bind(claim.owner)
        .bind(claim.now.as_millis())
        .bind(claim.until.as_millis())
        .try_map(|row: SqliteRow| {
            Ok(Claimed { subject_id: row.try_get("subject_id")?, attempts: row.try_get("attempts")? })
        })
        .fetch_optional(&self.writer)
        .await
        .map_err(store_error)
    }

    async fn pending(&self, claim: &Claim<'_>) -> Result<u64> {
        let Some(to_do) = to_do(claim.worker) else { return Ok(0) };
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT count(*) FROM ({to_do})
             WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE worker = ?3 AND subject_id = subject AND state = 'failed')"
        )))
        .bind(claim.except.map(|id| id.get()))
        .bind(claim.redo_extracts)
        .bind(claim.worker.as_str())
        .fetch_one(&self.readers)
        .await
        .map_err(store_error)?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    async fn next_due(&self, worker: WorkerKind) -> Result<Option<Timestamp>> {
        let due: Option<i64> = sqlx::query_scalar(
            "SELECT min(max(due, coalesce(leased_till, 0))) FROM jobs WHERE worker = ? AND state = 'waiting'",
        )
        .bind(worker.as_str())
        .fetch_one(&self.readers)
        .await
        .map_err(store_error)?;
        Ok(due.map(Timestamp::from_millis))
    }

    async fn release(&self, worker: WorkerKind, subject: i64) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        // What never failed needs no row.
        for statement in [
            "DELETE FROM jobs WHERE worker = ? AND subject_id = ? AND attempts = 0",
            "UPDATE jobs SET leased_by = NULL, leased_till = NULL WHERE worker = ? AND subject_id = ?",
        ] {
            sqlx::query(statement)
                .bind(worker.as_str())
                .bind(subject)
                .execute(&mut *transaction)
                .await
                .map_err(store_error)?;
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(())
    }

    async fn fail(
        &self,
        worker: WorkerKind,
        subject: i64,
        failure: &JobFailure,
        now: Timestamp,
    ) -> Result<()> {
        sqlx::query(
            "UPDATE jobs SET attempts = attempts + 1, last_error = ?3, leased_by = NULL, leased_till = NULL, updated = ?4,
                 due = coalesce(?5, due), state = CASE WHEN ?5 IS NULL THEN 'failed' ELSE 'waiting' END
             WHERE worker = ?1 AND subject_id = ?2",
        )
        .bind(worker.as_str())
        .bind(subject)
        .bind(&failure.error)
        .bind(now.as_millis())
        .bind(failure.due.map(Timestamp::as_millis))
        .execute(&self.writer)
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn failed_jobs(&self, limit: u32) -> Result<Vec<Job>> {
        sqlx::query("SELECT * FROM jobs WHERE state = 'failed' ORDER BY updated DESC, id DESC LIMIT ?")
            .bind(limit)
            .try_map(|row: SqliteRow| {
                Ok(Job {
                    id: row.try_get("id")?,
                    worker: row.try_get("worker")?,
                    subject_id: row.try_get("subject_id")?,
                    attempts: row.try_get("attempts")?,
                    last_error: row.try_get("last_error")?,
                    updated: Timestamp::from_millis(row.try_get("updated")?),
                })
            })
            .fetch_all(&self.readers)
            .await
            .map_err(store_error)
    }

    async fn retry_jobs(&self, id: Option<i64>, now: Timestamp) -> Result<u64> {
        let retried = sqlx::query(
            "UPDATE jobs SET state = 'waiting', attempts = 0, due = ?2, updated = ?2
             WHERE state = 'failed' AND (?1 IS NULL OR id = ?1)",
        )
        .bind(id)
        .bind(now.as_millis())
        .execute(&self.writer)
        .await
        .map_err(store_error)?;
        Ok(retried.rows_affected())
    }

    async fn purge_jobs(&self, id: Option<i64>) -> Result<u64> {
        let purged = sqlx::query("DELETE FROM jobs WHERE state = 'failed' AND (?1 IS NULL OR id = ?1)")
            .bind(id)
            .execute(&self.writer)
            .await
            .map_err(store_error)?;
        Ok(purged.rows_affected())
    }
}
