//! Roles: the parts of the store that each higher-level crate uses.
//!
//! A role combines the traits that one crate needs and has no methods of its own. Every type that implements these
//! traits implements the role, so the list of traits alone determines what a crate can read and write.

use crate::{
    Conversations, CoreMemory, Costs, Digests, Documents, Embeddings, Exchanges, Inspectable, Jobs, Marks,
    Memory, Permissions, Summaries,
};

/// The store as `memoir-recall` uses it: to search messages and documents, read marks and titles, and store embeddings
/// and their cost.
pub trait RecallStore: Memory + Documents + Embeddings + Conversations + Marks + Costs {}

impl<T: Memory + Documents + Embeddings + Conversations + Marks + Costs> RecallStore for T {}

/// The store as the model's tools use it: to read conversations and documents, edit core memory, and query the
/// database.
pub trait ToolStore: Conversations + Exchanges + Documents + CoreMemory + Inspectable {}

impl<T: Conversations + Exchanges + Documents + CoreMemory + Inspectable> ToolStore for T {}

/// The store as the background workers use it: to claim jobs, read exchanges, and store summaries, digests, embeddings
/// and costs.
pub trait WorkerStore: Jobs + Exchanges + Summaries + Digests + Embeddings + Costs {}

impl<T: Jobs + Exchanges + Summaries + Digests + Embeddings + Costs> WorkerStore for T {}

/// The store as a turn uses it: for its tools, digests, familiar words, permission rules and costs. Searches go through
/// the session's recall, which has a role of its own.
pub trait AgentStore: ToolStore + Memory + Digests + Permissions + Costs {}

impl<T: ToolStore + Memory + Digests + Permissions + Costs> AgentStore for T {}
