//! What a front end can ask of Memoir besides a turn.
//!
//! Conventions:
//!
//! - An operation is a function that takes a request and returns a report. Both are plain data that can be serialized;
//!   `--json` prints the report as it is, so renaming a field is a breaking change.
//! - An operation takes the narrowest store trait or handle that it needs, so that its signature shows what it touches.
//! - Nothing here prints, asks or reads the environment. What needs an answer from the user is two operations: one that
//!   describes what would happen, and one that does it.
//! - A long operation takes a callback for [`Progress`], so that a front end can draw a bar.
//! - What the caller can act upon is in the report. A [`Failure`](crate::failure::Failure) means that there is no report.

pub mod backup;
pub mod config;
pub mod conversations;
pub mod core_memory;
pub mod costs;
pub mod daemon;
mod database;
pub mod doctor;
pub mod documents;
pub mod eval;
pub mod export;
pub mod forgetting;
pub mod import;
pub mod memory;
pub mod models;
pub mod posts;
pub mod search;
pub mod suggestions;
pub mod tasks;
#[cfg(test)]
mod test_support;
pub mod workers;

use serde::Serialize;

/// How far a long operation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// What is counted.
    pub unit: ProgressUnit,
    /// How much is done.
    pub done: u64,
    /// How much there is to do, where that is known.
    pub total: Option<u64>,
}

/// What [`Progress`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressUnit {
    /// Bytes written.
    Bytes,
    /// Chunks embedded.
    Chunks,
    /// Conversations evaluated.
    Conversations,
    /// Documents read again.
    Documents,
    /// Files looked at.
    Files,
    /// Jobs of background workers.
    Jobs,
}
