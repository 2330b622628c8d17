//! Memoir's store as traits and plain types, without a database.
//!
//! A backend crate such as `memoir-store-sqlite` implements the traits and exports a [`Backend`]. A program passes its
//! backends to a [`StoreFactory`], which opens stores by URL and puts [`RedactingStore`] above each of them, so that no
//! backend ever sees a secret. The `contract` module (feature `contract`) holds the tests that every backend passes.
//!
//! # Which trait to ask for
//!
//! A function asks for the traits whose methods it calls, so that its signature shows what it reads and writes.
//! `&dyn Store` coerces to a reference to any of them (`&dyn Settings`), and a function that needs two takes
//! `&(impl Exchanges + Costs + ?Sized)`. A struct that holds a store for several functions asks for a role: [`RecallStore`],
//! [`ToolStore`], [`WorkerStore`] and [`AgentStore`] list what one crate touches. `Arc<dyn Store>` coerces to each of them.
//!
//! | trait | covers |
//! | --- | --- |
//! | [`Conversations`] | finding, listing and forking conversations |
//! | [`Exchanges`] | committing exchanges, reading them and their messages in order |
//! | [`Imports`] | exchanges from other programs, and how much of each conversation is here |
//! | [`Marks`] | the user's marks on exchanges |
//! | [`Forgetting`] | deleting content without a trace |
//! | [`CommandHistory`] | the lines that were typed |
//! | [`CoreMemory`] | the blocks that are in every request |
//! | [`Digests`] | what replaces the part of a conversation that left the context window |
//! | [`Summaries`] | summaries of exchanges and conversations |
//! | [`Memory`] | everything recall searches: words, vectors, outlines, texts |
//! | [`Embeddings`] | texts that need a vector, and storing vectors |
//! | [`Documents`] | documents, their chunks, and searching these |
//! | [`Jobs`] | background work: leases, failures, retries |
//! | [`Schedules`] | scheduled tasks and their runs |
//! | [`Settings`] | settings that the program changes itself |
//! | [`Permissions`] | approval rules, and the record of redactions |
//! | [`Costs`] | what model calls cost |
//! | [`Upkeep`] | the schema version, checks, backups, repairs |
//! | [`Inspect`] | SQL queries on the database; optional, see [`Inspectable`] |
//!
//! # Order
//!
//! Ids identify rows and are unique, nothing more: a backend may hand them out in any order. Whatever is returned "in
//! order" is ordered by its place in the conversation, which is the order of commits, or by time where the method says
//! so. Callers that need an order must ask for it and must not compare ids.

mod backend;
mod commands;
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
mod inspect;
mod jobs;
mod marks;
mod memory;
mod permissions;
mod redacting;
mod roles;
mod schedules;
mod settings;
mod summaries;
mod upkeep;
mod url;

#[cfg(feature = "contract")]
pub mod contract;

pub use backend::{Backend, BackendStore, RedactedWrites};
pub use commands::CommandHistory;
pub use conversations::{ConversationList, ConversationTitle, Conversations};
pub use core_memory::{Change, CoreMemory};
pub use costs::{CostFilter, CostLine, CostSummary, Costs};
pub use digests::Digests;
pub use documents::{
    ChunkMatch, ChunkSearch, ChunkSpan, ChunkVectors, Chunker, ChunksWithWord, DocumentFilter, Documents,
    Filed, NewDocument,
};
pub use embeddings::{Embeddable, EmbeddingCount, Embeddings, NewEmbedding, Unembedded};
pub use error::{Result, StoreError};
pub use exchanges::{Committed, Exchanges, Span, TranscriptMessage};
pub use factory::StoreFactory;
pub use forgetting::{Forget, Forgetting, Forgotten};
pub use imports::{Import, Imports, NewImport};
pub use inspect::{Inspect, Inspectable, QueryLimits, QueryResult, TableInfo};
pub use jobs::{Claim, Claimed, Job, JobFailure, Jobs};
pub use marks::Marks;
pub use memory::{
    Accuracy, ExchangeText, Filter, Match, Memory, MessageOutline, SearchEffort, SummaryMatch, VectorSearch,
    WordSearch, WordsFound,
};
pub use permissions::{KeptRule, NewRedaction, Permissions, Redaction};
pub use redacting::RedactingStore;
pub use roles::{AgentStore, RecallStore, ToolStore, WorkerStore};
pub use schedules::{NewRun, RunningRun, Schedules};
pub use settings::Settings;
pub use summaries::{ConversationSummary, Summaries};
pub use upkeep::{StoreFault, Upkeep};
pub use url::StoreUrl;

use async_trait::async_trait;

/// Everything a store does.
///
/// The roles add nothing to it. They are supertraits so that `Arc<dyn Store>` coerces to them.
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
    + Marks
    + Summaries
    + Jobs
    + Permissions
    + Schedules
    + Settings
    + CommandHistory
    + Costs
    + Upkeep
    + Inspectable
    + RecallStore
    + ToolStore
    + WorkerStore
    + AgentStore
{
    /// Stops background work and closes all connections. The store cannot be used afterwards.
    async fn close(&self);
}
