//! Serves memory to other programs.
//!
//! [`mcp`] is a Model Context Protocol server. It sees memory through a [`MemoryView`](memoir_runtime::view::MemoryView),
//! which limits what its client may see.

pub mod mcp;
