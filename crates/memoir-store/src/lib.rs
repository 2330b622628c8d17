//! Traits and types for storing conversations, memories and everything else that Memoir keeps.
//!
//! This crate contains no database. A backend crate such as `memoir-store-sqlite` implements the traits and exports a
//! [`Backend`]. A program passes its backends to a [`StoreFactory`], which opens stores by URL and wraps each one in a
//! [`RedactingStore`], so that no backend ever sees a secret. The `contract` module (feature `contract`) contains the
//! tests that every backend must pass.
//!
//! # Choosing a trait
//!
//! A function should ask for the traits whose methods it calls, so that its signature shows what it reads and writes.
//! `&dyn Store` coerces to a reference to any of them (`&dyn Settings`), and a function that needs two takes
//! `&(impl Exchanges + Costs + ?Sized)`. A struct that holds a store for several functions should ask for a role:
//! [`RecallStore`], [`ToolStore`], [`WorkerStore`] or [`AgentStore`]. `Arc<dyn Store>` coerces to each of them.
//!
//! | trait | covers |
//! | --- | --- |
//! | [`Conversations`] | finding, listing and forking conversations |
//! | [`Exchanges`] | committing exchanges, and reading them and their messages in order |
//! | [`Imports`] | conversations imported from other programs |
//! | [`Transcripts`] | which files of other programs were imported |
//! | [`Injections`] | what was added to the prompts of other programs |
//! | [`Continuations`] | how programs continue a conversation that they send with each request |
//! | [`ChangeLog`] | what has changed since a moment |
//! | [`Statistics`] | counts over the whole memory |
//! | [`Marks`] | the user's marks on exchanges |
//! | [`Forgetting`] | deleting content without leaving traces |
//! | [`CommandHistory`] | the lines that the user typed |
//! | [`CoreMemory`] | the blocks that are part of every request |
//! | [`Digests`] | summaries of the part of a conversation that left the context window |
//! | [`Summaries`] | summaries of exchanges and conversations |
//! | [`Memory`] | the searches that recall is built on |
//! | [`Embeddings`] | finding texts to embed, and storing embeddings |
//! | [`Documents`] | storing and searching documents |
//! | [`Jobs`] | background jobs: leases, failures, retries |
//! | [`Schedules`] | scheduled tasks and their runs |
//! | [`Settings`] | settings that the program changes at run time |
//! | [`Tokens`] | tokens that let programs reach the memory over the network |
//! | [`Permissions`] | permission rules, and the redaction log |
//! | [`Costs`] | the cost of model calls |
//! | [`Upkeep`] | schema version, integrity checks, backups, repairs |
//! | [`Inspect`] | SQL queries; optional, see [`Inspectable`] |
//!
//! # Order
//!
//! Ids are unique but carry no order: a backend may assign them in any sequence. Results described as "in order" follow
//! the conversation, that is, the order of commits; methods that sort by time say so. Callers must not compare ids to
//! determine an order.

mod backend;
mod changes;
mod commands;
mod continuations;
mod conversations;
mod core_memory;
mod costs;
mod digests;
mod documents;
mod embeddings;
mod error;
mod exchanges;
mod factory;
mod forgetting;
mod imports;
mod injections;
mod inspect;
mod jobs;
mod marks;
mod memory;
mod permissions;
mod redacting;
mod roles;
mod schedules;
mod settings;
mod statistics;
mod summaries;
mod tokens;
mod transcripts;
mod upkeep;
mod url;

#[cfg(feature = "contract")]
pub mod contract;

pub use backend::{Backend, BackendStore, RedactedWrites};
pub use changes::{ChangeLog, ChangeMark, Changes};
pub use commands::CommandHistory;
pub use continuations::Continuations;
pub use conversations::{ConversationList, ConversationTitle, Conversations, ListPosition};
pub use core_memory::{ChangeOutcome, CoreMemory};
pub use costs::{CostFilter, CostLine, CostSummary, Costs};
pub use digests::Digests;
pub use documents::{
    ChunkMatch, ChunkSearch, ChunkSpan, ChunkVectors, Chunker, ChunksWithWord, DocumentFilter,
    DocumentUpdate, Documents, NewDocument,
};
pub use embeddings::{EmbeddingCount, EmbeddingSelection, Embeddings, NewEmbedding, UnembeddedText};
pub use error::{Result, StoreError};
pub use exchanges::{CommittedExchange, Exchanges, Span, TranscriptMessage};
pub use factory::StoreFactory;
pub use forgetting::{Forget, ForgetOutcome, Forgetting};
pub use imports::{Import, Imports, NewImport};
pub use injections::Injections;
pub use inspect::{Inspect, Inspectable, QueryLimits, QueryResult, TableInfo};
pub use jobs::{Claim, ClaimedJob, Job, JobFailure, Jobs};
pub use marks::Marks;
pub use memory::{
    Accuracy, ExchangeText, Filter, LATER_PART_DISCOUNT, Match, Memory, MessageOutline, MessagePart,
    SearchEffort, SummaryMatch, VectorSearch, WordSearch, WordSearchResult,
};
pub use permissions::{HeldRedaction, NewRedaction, Permissions, Redaction, StoredRule};
pub use redacting::RedactingStore;
pub use roles::{AgentStore, RecallStore, ToolStore, WorkerStore};
pub use schedules::{NewRun, RunningRun, Schedules};
pub use settings::Settings;
pub use statistics::{ActivityCount, Statistics};
pub use summaries::{ConversationSummary, Summaries};
pub use tokens::Tokens;
pub use transcripts::{Transcript, Transcripts};
pub use upkeep::{Salvage, SalvagedTable, StoreFault, Upkeep};
pub use url::StoreUrl;

use async_trait::async_trait;

/// A complete store.
///
/// The roles add no methods. They are supertraits so that `Arc<dyn Store>` coerces to them.
#[async_trait]
pub trait Store:
    Conversations
    + Exchanges
    + Memory
    + Embeddings
    + CoreMemory
    + Digests
    + Documents
    + Forgetting
    + Imports
    + Transcripts
    + Injections
    + Continuations
    + ChangeLog
    + Statistics
    + Marks
    + Summaries
    + Jobs
    + Permissions
    + Schedules
    + Settings
    + Tokens
    + CommandHistory
    + Costs
    + Upkeep
    + Inspectable
    + RecallStore
    + ToolStore
    + WorkerStore
    + AgentStore
{
    /// Returns what was redacted from exchanges since the store was opened. The secrets are kept in memory only.
    fn held_redactions(&self) -> Vec<HeldRedaction> {
        Vec::new()
    }

    /// Restores a text that was redacted, and does not redact it again. Returns `false` if there is no such redaction.
    async fn undo_redaction(&self, _number: u32) -> Result<bool> {
        Ok(false)
    }

    /// Stops background work and closes all connections. The store cannot be used afterwards.
    async fn close(&self);
}
