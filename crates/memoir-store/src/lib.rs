//! Where Memoir keeps things.
//!
//! The store is a set of traits in plain types, one area of memory each, gathered in [`Store`]. SQLite
//! stands behind them here; a server database can stand behind them later, and nothing above this crate
//! would change. The `contract` module holds the tests that every implementation passes.
//!
//! All SQL of Memoir lives in this crate.

mod commands;
mod conversations;
mod core_memory;
mod costs;
mod digests;
mod documents;
mod embeddings;
mod error;
mod exchanges;
mod forgetting;
mod imports;
mod inspect;
mod jobs;
mod marks;
mod memory;
mod owner;
mod permissions;
mod schedules;
mod settings;
mod summaries;
mod upkeep;

#[cfg(feature = "contract")]
pub mod contract;
pub mod sqlite;

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
pub use exchanges::{Committed, Exchanges, Said, Span};
pub use forgetting::{Forget, Forgetting, Forgotten};
pub use imports::{Import, Imports, NewImport};
pub use inspect::{Answer, Inspect, QueryLimits, TableInfo};
pub use jobs::{Claim, Claimed, Job, JobFailure, Jobs};
pub use marks::Marks;
pub use memory::{
    ExchangeText, Filter, IndexMode, Match, Memory, MessageOutline, SummaryMatch, VectorSearch, WordSearch,
    WordsFound,
};
pub use owner::{is_alive, is_dead, of_this_process};
pub use permissions::{KeptRule, Permissions, Redaction};
pub use schedules::{NewRun, RunningRun, Schedules};
pub use settings::Settings;
pub use summaries::{ConversationSummary, Summaries};
pub use upkeep::Upkeep;

/// Everything a store does.
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
    + Inspect
    + Upkeep
{
}

impl<T> Store for T where
    T: Conversations
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
        + Inspect
        + Upkeep
{
}
