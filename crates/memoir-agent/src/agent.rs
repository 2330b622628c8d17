//! The configuration that the sessions of one process share.

use std::sync::Arc;

use memoir_core::{Clock, TimeZone, Usd};
use memoir_store::AgentStore;
use memoir_tools::{Sandbox, Search, ToolContext, Workspace};

use crate::AgentState;

/// Bounds on a turn.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of rounds of tool calls in one exchange.
    pub max_turns: u32,
    /// Maximum cost of one turn, as far as prices are known. The turn stops when it is reached.
    pub budget: Option<Usd>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_turns: 25, budget: None }
    }
}

/// The part of an agent that never changes: a memory, a workspace and limits.
///
/// Share it as `Arc<Agent>`. Everything that may differ between sessions, or change between two turns of one session, is in
/// [`AgentState`], so any number of states can run turns on one agent at the same time.
#[derive(Clone)]
pub struct Agent {
    /// The memory.
    pub store: Arc<dyn AgentStore>,
    /// The source of the current time.
    pub clock: Arc<dyn Clock>,
    /// The time zone of dates that a model reads.
    pub zone: TimeZone,
    /// Bounds on each turn.
    pub limits: Limits,
    /// The directories that tools are confined to.
    pub workspace: Workspace,
    /// How tools run commands.
    pub sandbox: Sandbox,
    /// The internet search service, if one is configured.
    pub search: Option<Search>,
}

impl Agent {
    /// Returns an agent with the default limits that works on `store` and in the workspace of `context`. Its tools use `store`
    /// too, so that a turn has one memory.
    ///
    /// The recall of `context` supplies the clock and the time zone. Pass the same recall to [`AgentState::new`].
    pub fn new(store: Arc<dyn AgentStore>, context: ToolContext) -> Self {
        Self {
            store,
            clock: context.recall.clock,
            zone: context.recall.zone,
            limits: Limits::default(),
            workspace: context.workspace,
            sandbox: context.sandbox,
            search: context.search,
        }
    }

    /// Returns what tools work with during a turn of `state`.
    pub(crate) fn tool_context(&self, state: &AgentState) -> ToolContext {
        ToolContext {
            workspace: self.workspace.clone(),
            store: self.store.clone(),
            recall: state.recall.clone(),
            sandbox: self.sandbox.clone(),
            search: self.search.clone(),
            delegate: None,
        }
    }
}
