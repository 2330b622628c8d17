//! Reads the rows of the `jobs` table.

use memoir_core::{Subject, SubjectKind, WorkerKind};
use memoir_store::{ClaimedJob, Result};
use sqlx::{Row as _, sqlite::SqliteRow};

/// The kind of lease that a row of `jobs` represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseKind {
    /// A job that a worker has claimed, or that has failed.
    Work(WorkerKind),
    /// A conversation that is open in a session. Workers skip it.
    OpenConversation,
}

impl LeaseKind {
    /// Returns the value of the `worker` column.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Work(worker) => worker.as_str(),
            Self::OpenConversation => "talk",
        }
    }
}

/// Reads a claimed job.
pub(super) fn read_claimed(row: SqliteRow) -> Result<ClaimedJob, sqlx::Error> {
    Ok(ClaimedJob { subject: read_subject(&row)?, attempts: row.try_get("attempts")? })
}

/// Reads the worker of a job.
pub(super) fn read_worker(row: &SqliteRow) -> Result<WorkerKind, sqlx::Error> {
    let worker: &str = row.try_get("worker")?;
    WorkerKind::parse(worker)
        .ok_or_else(|| sqlx::Error::Decode(format!("unknown worker \"{worker}\"").into()))
}

/// Reads the subject of a job or an embedding.
pub(super) fn read_subject(row: &SqliteRow) -> Result<Subject, sqlx::Error> {
    let kind: &str = row.try_get("subject_kind")?;
    let kind = SubjectKind::parse(kind)
        .ok_or_else(|| sqlx::Error::Decode(format!("unknown subject kind \"{kind}\"").into()))?;
    Ok(Subject::new(kind, row.try_get("subject_id")?))
}
