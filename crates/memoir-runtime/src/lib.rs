//! Everything needed to run Memoir without a terminal.
//!
//! A front end captures its process in an [`Environment`](environment::Environment), opens a [`Runtime`], starts a
//! [`Session`] and runs turns:
//!
//! ```no_run
//! use memoir_runtime::{Runtime, RuntimeOptions, SessionOptions, environment::Environment, home::Home};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn run() -> Result<(), memoir_runtime::failure::Failure> {
//! let options = RuntimeOptions::new(Home::in_directory("/tmp/memoir"), Environment::default(), ".");
//! let runtime = Runtime::open(options).await?;
//! let mut session = runtime.session(SessionOptions::default()).await?;
//! let report = session.turn("What did we decide?", &mut |_| {}, &CancellationToken::new()).await?;
//! println!("{}", report.text);
//! session.close().await;
//! runtime.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here prints, exits or reads the environment. Messages for the user are returned: as a report, a notice, or a
//! [`Failure`](failure::Failure) with a hint.

pub mod attachments;
mod background;
mod background_task;
mod care;
pub mod config;
mod copies;
pub mod dates;
pub mod demo;
mod digits;
mod embedder;
pub mod environment;
pub mod failure;
pub mod files;
mod follower;
pub mod home;
pub mod hub;
mod import_settings;
pub mod logging;
mod memory;
pub mod models;
mod named_files;
pub mod operations;
pub mod permissions;
mod persistence;
pub mod personas;
mod runtime;
pub mod scope;
mod server_offers;
mod servers;
mod session;
pub mod settings;
mod similar;
pub mod stores;
pub mod tasks;
mod temporary;
mod terminal_settings;
mod tools;
mod trust;
pub mod view;
pub mod worker_text;

pub use background::Background;
pub use care::Care;
pub use digits::group_digits;
pub use failure::{Failure, FailureKind};
pub use follower::Follower;
pub use import_settings::ImportSettings;
pub use memoir_core::printable;
pub use memory::connect_recall;
pub use persistence::Persistence;
pub use runtime::{Runtime, RuntimeOptions};
pub use server_offers::ServerOffers;
pub use session::{
    ApprovalReport, BackgroundReport, ChangedSetting, CompactReport, EmbeddingsReport, FailedJobs, Fork,
    ModelEmbeddings, PersonaList, RebuildReport, Resume, Session, SessionOptions, WorkerProgressReport,
};
pub use similar::most_similar;
pub use temporary::TemporaryFile;
pub use terminal_settings::{KeyStyle, TerminalSettings};
pub use trust::Trust;
