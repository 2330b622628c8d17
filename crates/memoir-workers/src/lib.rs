//! Background workers that summarize exchanges and conversations and compute embeddings.
//!
//! Each worker claims jobs from the store under a lease, then either stores the result or records the error and the
//! time of the next attempt. [`run_until_idle`] runs workers until no job is due; a [`Runner`] runs them during a
//! conversation.

mod backoff;
mod brief;
mod conversation_summarizer;
mod digest;
mod embedding_generator;
mod exchange_summarizer;
mod extract;
mod owner;
mod run;
mod runner;
mod settings;
mod status;
mod summarize;
mod worker;
mod worker_context;
mod worker_loop;

pub use brief::{embed_documents, embed_within, prepare_digests};
pub use owner::{is_alive, is_dead, name_this_process};
pub use run::{WorkerReport, WorkerStopReason, run_until_idle};
pub use runner::Runner;
pub use settings::WorkerSettings;
pub use status::{WorkerState, WorkerStatus};
pub use worker::WorkerProgress;
pub use worker_context::{BudgetStop, WorkerContext};
pub use worker_loop::Listener;
