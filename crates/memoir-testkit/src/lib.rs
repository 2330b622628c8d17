//! Test helpers: a scripted provider on loopback, temporary homes with the real binary, a terminal, and fakes
//! for unit tests.
//!
//! End-to-end tests mock no part of Memoir: the provider is a real HTTP server, the binary is the real
//! binary, and the terminal is a real pseudo-terminal whose screen can be read. The [`fakes`] replace a model
//! or a clock in tests that call a library directly.

#![expect(clippy::unwrap_used, reason = "this crate only serves tests, where a failure is meant to panic")]

pub mod data;
pub mod database;
pub mod fakes;
mod home;
mod http_server;
mod image;
mod mcp_client;
mod provider;
mod run;
mod terminal;
pub mod torture;
mod waiting;

pub use home::TestHome;
pub use http_server::{HttpReply, HttpServer};
pub use image::DOT_PNG;
pub use mcp_client::{McpClient, McpRevision};
pub use provider::{EMBEDDING_DIMENSIONS, RecordedRequest, Reply, ReportedUsage, ScriptedProvider};
pub use run::ProgramRun;
pub use terminal::Terminal;
pub use waiting::{WAIT_TIMEOUT, wait_until};
