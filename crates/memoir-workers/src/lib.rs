//! Work in the background: summaries of exchanges and conversations, and vectors.
//!
//! Each worker finds its work in the database, takes on one piece at a time under a lease, and either files what came of it
//! or notes the failure and when to try again. [`run_until_idle`] lets all of them do what is due; a
//! [`Runner`] has them work beside the talk.

mod backoff;
mod brief;
mod conversation_summarizer;
mod digest;
mod embedding_generator;
mod exchange_summarizer;
mod extract;
mod office;
mod owner;
mod runner;
mod settings;
mod summarise;
mod worker;

pub use brief::{embed_documents, embed_for_a_while, prepare_digests};
pub use office::Office;
pub use owner::{is_alive, is_dead, name_this_process};
pub use runner::{Listener, Runner, State, Status};
pub use settings::WorkerSettings;
pub use worker::{Broke, Progress, Report, Stopped, run_until_idle};
