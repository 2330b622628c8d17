//! Rows of `jobs`: what is in their columns.

use memoir_core::{Subject, SubjectKind, WorkerKind};
use memoir_store::{Claimed, Result};
use sqlx::{Row as _, sqlite::SqliteRow};

/// What a row of `jobs` is a lease on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseKind {
    /// A piece of a worker's work.
    Work(WorkerKind),
    /// A conversation that is open in a session. Workers leave it alone.
    OpenConversation,
}

impl LeaseKind {
    /// Returns the value of the column `worker`.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Work(worker) => worker.as_str(),
            Self::OpenConversation => "talk",
        }
    }
}

/// A row of what was taken on.
pub(super) fn claimed(row: SqliteRow) -> Result<Claimed, sqlx::Error> {
    Ok(Claimed { subject: subject(&row)?, attempts: row.try_get("attempts")? })
}

/// Returns the worker of a failed job.
pub(super) fn worker(row: &SqliteRow) -> Result<WorkerKind, sqlx::Error> {
    let worker: &str = row.try_get("worker")?;
    WorkerKind::parse(worker)
        .ok_or_else(|| sqlx::Error::Decode(format!("there is no worker \"{worker}\"").into()))
}

/// What a row of jobs, or of vectors, is about.
pub(super) fn subject(row: &SqliteRow) -> Result<Subject, sqlx::Error> {
    let kind: &str = row.try_get("subject_kind")?;
    let kind = SubjectKind::parse(kind)
        .ok_or_else(|| sqlx::Error::Decode(format!("there is no kind of subject \"{kind}\"").into()))?;
    Ok(Subject::new(kind, row.try_get("subject_id")?))
}
