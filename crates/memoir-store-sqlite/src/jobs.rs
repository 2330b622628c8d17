//! SQL for background jobs.

use async_trait::async_trait;
use memoir_core::{ConversationId, Subject, Timestamp, WorkerKind};
use memoir_store::{Claim, ClaimedJob, Job, JobFailure, Jobs, Result};
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    job_rows::{LeaseKind, read_subject, read_worker},
    sources::sources,
};

/// Maximum number of times that another process may claim the candidates first before this claim gives up.
const MAX_LOST_RACES: usize = 50;

#[async_trait]
impl Jobs for SqliteStore {
    async fn claim(&self, claim: &Claim<'_>, limit: u32) -> Result<Vec<ClaimedJob>> {
        for source in sources(claim) {
            // If another process claims all candidates first, look for others.
            for _ in 0..MAX_LOST_RACES {
                let candidates = self.candidates(source, claim, limit).await?;
                if candidates.is_empty() {
                    break;
                }
                let jobs = self.lease(source, claim, &candidates).await?;
                if !jobs.is_empty() {
                    return Ok(jobs);
                }
            }
        }
        Ok(Vec::new())
    }

    async fn pending(&self, claim: &Claim<'_>) -> Result<u64> {
        let mut pending = 0;
        for source in sources(claim) {
            pending += self.count(source, claim).await?;
        }
        let failed: i64 =
            sqlx::query_scalar("SELECT count(*) FROM jobs WHERE worker = ? AND state <> 'waiting'")
                .bind(claim.worker.as_str())
                .fetch_one(&self.readers)
                .await
                .or_store_error()?;
        Ok(pending.saturating_sub(u64::try_from(failed).unwrap_or(0)))
    }

    async fn next_due(&self, worker: WorkerKind, now: Timestamp) -> Result<Option<Timestamp>> {
        let due: Option<i64> = sqlx::query_scalar(
            "SELECT min(max(due, coalesce(leased_till, 0))) FROM jobs
             WHERE worker = ?1 AND state = 'waiting' AND max(due, coalesce(leased_till, 0)) > ?2",
        )
        .bind(worker.as_str())
        .bind(now.as_millis())
        .fetch_one(&self.readers)
        .await
        .or_store_error()?;
        Ok(due.map(Timestamp::from_millis))
    }

    async fn release(&self, worker: WorkerKind, subjects: &[Subject]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for subject in subjects {
            // A job that never failed needs no row.
            for statement in [
                "DELETE FROM jobs WHERE worker = ? AND subject_kind = ? AND subject_id = ? AND attempts = 0",
                "UPDATE jobs SET leased_by = NULL, leased_till = NULL
                 WHERE worker = ? AND subject_kind = ? AND subject_id = ?",
            ] {
                execute(&mut transaction, statement, worker, *subject).await?;
            }
        }
        transaction.commit().await.or_store_error()
    }

    async fn lease_holders(&self) -> Result<Vec<String>> {
        sqlx::query_scalar("SELECT DISTINCT leased_by FROM jobs WHERE leased_by IS NOT NULL")
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn renew(&self, owner: &str, until: Timestamp) -> Result<()> {
        sqlx::query("UPDATE jobs SET leased_till = ? WHERE leased_by = ? AND worker <> ?")
            .bind(until.as_millis())
            .bind(owner)
            .bind(LeaseKind::OpenConversation.as_str())
            .execute(self.writer().await?)
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn hold_conversation(
        &self,
        owner: &str,
        conversation: Option<ConversationId>,
        until: Timestamp,
    ) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        sqlx::query("DELETE FROM jobs WHERE worker = ? AND leased_by = ?")
            .bind(LeaseKind::OpenConversation.as_str())
            .bind(owner)
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        if let Some(conversation) = conversation {
            // Two sessions may have the same conversation open. One reservation is enough.
            sqlx::query(
                "INSERT INTO jobs (worker, subject_kind, subject_id, state, attempts, due, leased_by, leased_till, updated)
                 VALUES (?1, 'conversation', ?2, 'waiting', 0, 0, ?3, ?4, 0)
                 ON CONFLICT DO UPDATE SET leased_by = excluded.leased_by, leased_till = excluded.leased_till",
            )
            .bind(LeaseKind::OpenConversation.as_str())
            .bind(conversation.get())
            .bind(owner)
            .bind(until.as_millis())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        }
        transaction.commit().await.or_store_error()
    }

    async fn release_all(&self, owner: &str) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for statement in [
            "DELETE FROM jobs WHERE leased_by = ? AND attempts = 0",
            "UPDATE jobs SET leased_by = NULL, leased_till = NULL WHERE leased_by = ?",
        ] {
            sqlx::query(statement).bind(owner).execute(&mut *transaction).await.or_store_error()?;
        }
        transaction.commit().await.or_store_error()
    }

    async fn fail(
        &self,
        worker: WorkerKind,
        subjects: &[Subject],
        failure: &JobFailure,
        now: Timestamp,
    ) -> Result<u64> {
        let mut transaction = self.begin_write().await?;
        let mut updated = 0;
        for subject in subjects {
            let result = sqlx::query(
                "UPDATE jobs SET attempts = attempts + 1, last_error = ?4, leased_by = NULL, leased_till = NULL,
                     updated = ?5, due = coalesce(?6, due),
                     state = CASE WHEN ?6 IS NULL THEN 'failed' ELSE 'waiting' END
                 WHERE worker = ?1 AND subject_kind = ?2 AND subject_id = ?3",
            )
            .bind(worker.as_str())
            .bind(subject.kind.as_str())
            .bind(subject.id)
            .bind(&failure.error)
            .bind(now.as_millis())
            .bind(failure.due.map(Timestamp::as_millis))
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
            updated += result.rows_affected();
        }
        transaction.commit().await.or_store_error()?;
        Ok(updated)
    }

    async fn failed_count(&self) -> Result<u64> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs WHERE state = 'failed'")
            .fetch_one(&self.readers)
            .await
            .or_store_error()?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    async fn failed_jobs(&self, limit: u32) -> Result<Vec<Job>> {
        sqlx::query("SELECT * FROM jobs WHERE state = 'failed' ORDER BY updated DESC, id DESC LIMIT ?")
            .bind(limit)
            .try_map(|row: SqliteRow| {
                Ok(Job {
                    id: row.try_get("id")?,
                    worker: read_worker(&row)?,
                    subject: read_subject(&row)?,
                    attempts: row.try_get("attempts")?,
                    last_error: row.try_get("last_error")?,
                    updated: Timestamp::from_millis(row.try_get("updated")?),
                })
            })
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn retry_jobs(&self, id: Option<i64>, now: Timestamp) -> Result<u64> {
        let result = sqlx::query(
            "UPDATE jobs SET state = 'waiting', attempts = 0, due = ?2, updated = ?2
             WHERE state = 'failed' AND (?1 IS NULL OR id = ?1)",
        )
        .bind(id)
        .bind(now.as_millis())
        .execute(self.writer().await?)
        .await
        .or_store_error()?;
        Ok(result.rows_affected())
    }

    async fn purge_jobs(&self, id: Option<i64>) -> Result<u64> {
        let result = sqlx::query(
            "UPDATE jobs SET state = 'given_up' WHERE state = 'failed' AND (?1 IS NULL OR id = ?1)",
        )
        .bind(id)
        .execute(self.writer().await?)
        .await
        .or_store_error()?;
        Ok(result.rows_affected())
    }

    async fn forget_failures(&self, worker: WorkerKind) -> Result<()> {
        sqlx::query("DELETE FROM jobs WHERE worker = ? AND leased_by IS NULL")
            .bind(worker.as_str())
            .execute(self.writer().await?)
            .await
            .or_store_error()?;
        Ok(())
    }
}

/// Deletes a completed job.
pub(super) async fn complete_job(
    connection: &mut SqliteConnection,
    worker: WorkerKind,
    subject: Subject,
) -> Result<()> {
    let statement = "DELETE FROM jobs WHERE worker = ? AND subject_kind = ? AND subject_id = ?";
    execute(connection, statement, worker, subject).await
}

async fn execute(
    connection: &mut SqliteConnection,
    statement: &'static str,
    worker: WorkerKind,
    subject: Subject,
) -> Result<()> {
    sqlx::query(statement)
        .bind(LeaseKind::Work(worker).as_str())
        .bind(subject.kind.as_str())
        .bind(subject.id)
        .execute(connection)
        .await
        .or_store_error()?;
    Ok(())
}
