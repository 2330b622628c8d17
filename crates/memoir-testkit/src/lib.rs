//! For tests: a scripted provider on loopback, temporary homes with the real binary, a terminal.
//!
//! Nothing here is a mock of Memoir: the provider is a real HTTP server, the binary is the real binary, and
//! the terminal is a real pseudo-terminal whose screen can be read.

#![expect(clippy::unwrap_used, reason = "this crate only serves tests, where a failure is meant to panic")]

mod home;
mod provider;
mod terminal;
pub mod torture;

pub use home::{Home, Run};
pub use provider::{
    EMBEDDING_DIMENSIONS, RecordedRequest, Reply, ReportedUsage, ScriptedProvider, broken_rule,
};
pub use terminal::Terminal;

use std::time::Duration;

/// How long anything here waits before it gives up and fails the test. Long, because a loaded machine is
/// slow; nothing ever waits this long when it works.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
