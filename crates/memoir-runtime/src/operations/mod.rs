//! Operations that a front end can run in addition to turns.
//!
//! Conventions:
//!
//! - An operation is a function that takes a request and returns a report. Both are plain, serializable data. `--json`
//!   prints the report unchanged, so renaming a field is a breaking change.
//! - An operation takes the narrowest store trait or handle that it needs, so its signature shows what it accesses.
//! - Operations never print, prompt or read the environment. A change that needs confirmation is split into two
//!   operations: one that previews it and one that carries it out.
//! - A long operation takes a [`Progress`] callback, which a front end can use to draw a progress bar.
//! - Problems that the caller can act on are part of the report. A [`Failure`](crate::failure::Failure) means that
//!   there is no report.

pub mod activity;
pub mod backup;
pub mod browser;
pub mod config;
pub mod connect;
pub mod conversations;
pub mod core_memory;
pub mod costs;
pub mod daemon;
pub(crate) mod database;
pub mod doctor;
pub mod documents;
pub mod eval;
pub mod export;
pub mod forgetting;
pub mod import;
pub mod instructions;
pub mod memory;
pub mod models;
pub mod posts;
pub mod repair;
pub mod search;
pub mod servers;
pub mod sharing;
pub mod suggestions;
pub mod systemd;
pub mod tasks;
#[cfg(test)]
pub(crate) mod test_support;
pub mod tokens;
pub mod workers;

use serde::Serialize;

/// Progress of a long operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Unit of `done` and `total`.
    pub unit: ProgressUnit,
    /// Number of units completed.
    pub done: u64,
    /// Total number of units, if known.
    pub total: Option<u64>,
}

/// Unit in which [`Progress`] is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressUnit {
    /// Bytes written to a backup.
    Bytes,
    /// Document chunks that have been embedded.
    Chunks,
    /// Conversations imported, exported or evaluated.
    Conversations,
    /// Documents that have been reindexed.
    Documents,
    /// Files imported or added as documents.
    Files,
    /// Jobs completed by background workers.
    Jobs,
}
