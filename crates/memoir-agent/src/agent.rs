//! The configuration that the sessions of one process share.

use std::sync::Arc;

use memoir_core::{
    Clock, TimeZone, Usd,
    setting::{HasSettings, Setting, assign, parse_in_range},
};
use memoir_store::AgentStore;
use memoir_tools::{Sandbox, Search, ToolContext, Workspace};

use crate::AgentState;

/// Limits of a turn.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of rounds of tool calls in one exchange.
    pub max_turns: u32,
    /// Maximum cost of one turn. The turn stops when the calls whose price is known have cost this much.
    pub budget: Option<Usd>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_turns: 25, budget: None }
    }
}

impl HasSettings for Limits {
    const ALL: &'static [Setting<Self>] = &[Setting {
        key: "agent.max_turns",
        aliases: &[],
        valid_values: "a number from 1 to 1000",
        summary: "maximum number of rounds of tool calls in one exchange",
        show: |limits| limits.max_turns.to_string(),
        change: |limits, value| {
            assign(
                &mut limits.max_turns,
                parse_in_range(value, 1, 1000).and_then(|count| u32::try_from(count).ok()),
            )
        },
    }];
}

/// The part of an agent that never changes: store, workspace and limits.
///
/// Share it as `Arc<Agent>`. Everything that can differ between sessions or change between two turns is in
/// [`AgentState`], so any number of sessions can run turns on one agent concurrently.
#[derive(Clone)]
pub struct Agent {
    /// Store of conversations, memory and costs.
    pub store: Arc<dyn AgentStore>,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Time zone of the dates in requests.
    pub zone: TimeZone,
    /// Limits of each turn.
    pub limits: Limits,
    /// Directories that tools may access.
    pub workspace: Workspace,
    /// Sandbox in which tools run commands.
    pub sandbox: Sandbox,
    /// Internet search service, if one is configured.
    pub search: Option<Search>,
}

impl Agent {
    /// Creates an agent with the default limits. The agent and its tools share `store`; `context` supplies everything
    /// else.
    ///
    /// The recall in `context` supplies the clock and the time zone. Pass the same recall to [`AgentState::new`].
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

    /// Returns the resources for one call of a tool.
    pub(crate) fn tool_context(&self, state: &AgentState, tool: &str) -> ToolContext {
        ToolContext {
            workspace: self.workspace.for_one_call(),
            store: self.store.clone(),
            recall: state.recall.clone(),
            sandbox: self.sandbox.clone(),
            search: self.search.clone(),
            subagents: None,
            denied: state.approvals.policy().denied_paths(tool, self.workspace.project()),
            reporter: None,
        }
    }
}
