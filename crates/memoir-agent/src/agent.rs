//! What every turn needs.

use std::sync::Arc;

use memoir_core::{Clock, TimeZone};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::Store;
use memoir_tools::{ToolContext, ToolSet};

/// Bounds on a turn.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many rounds of tool calls one exchange may take.
    pub max_turns: u32,
    /// How many earlier exchanges of the conversation are sent along.
    pub history_exchanges: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_turns: 25, history_exchanges: 50 }
    }
}

/// An agent: a model, its tools and a memory.
#[derive(Clone)]
pub struct Agent {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// Who answers.
    pub model: Arc<dyn ChatModel>,
    /// What it may do.
    pub tools: Arc<ToolSet>,
    /// What tools work with.
    pub tool_context: ToolContext,
    /// How memory is asked; not at all when it is switched off.
    pub recall: Option<Recall>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where, for dates that a model reads.
    pub zone: TimeZone,
    /// How far a turn may go.
    pub limits: Limits,
}
