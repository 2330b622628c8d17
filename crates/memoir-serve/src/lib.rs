//! Serves memory to other programs.
//!
//! [`mcp`] is a Model Context Protocol server, and [`hook`] answers the hooks that programs run at the events of a
//! session. Both see memory through a [`MemoryView`](memoir_runtime::view::MemoryView), which limits what a program may
//! see.

mod context;
pub mod hook;
pub mod mcp;
pub mod proxy;
mod quote;
