//! Roles: what the crates above the store touch of it.
//!
//! A role combines the traits that one crate needs and has no methods of its own. Every type with these traits has the
//! role, so nothing but a role's list decides what its holder can read and write.

use crate::{
    Conversations, CoreMemory, Costs, Digests, Documents, Embeddings, Exchanges, Inspectable, Jobs, Marks,
    Memory, Permissions, Summaries,
};

/// What `memoir-recall` touches: it searches messages and documents, reads marks and titles, and stores embeddings and
/// their cost.
pub trait RecallStore: Memory + Documents + Embeddings + Conversations + Marks + Costs {}

impl<T: Memory + Documents + Embeddings + Conversations + Marks + Costs> RecallStore for T {}

/// What the tools of a model touch: they read conversations and documents, edit core memory, and query the database.
pub trait ToolStore: Conversations + Exchanges + Documents + CoreMemory + Inspectable {}

impl<T: Conversations + Exchanges + Documents + CoreMemory + Inspectable> ToolStore for T {}

/// What the background workers touch: they claim jobs, read exchanges, and store summaries, digests, embeddings and
/// costs.
pub trait WorkerStore: Jobs + Exchanges + Summaries + Digests + Embeddings + Costs {}

impl<T: Jobs + Exchanges + Summaries + Digests + Embeddings + Costs> WorkerStore for T {}

/// What a turn touches: all that its tools touch, digests, the words that memory knows, approval rules and costs.
/// Searches go through the recall of the session, which has a role of its own.
pub trait AgentStore: ToolStore + Memory + Digests + Permissions + Costs {}

impl<T: ToolStore + Memory + Digests + Permissions + Costs> AgentStore for T {}
