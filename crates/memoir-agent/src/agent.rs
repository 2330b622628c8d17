//! What every turn needs.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
};

use memoir_core::{Clock, Message, TimeZone, Usd};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::Store;
use memoir_tools::{ToolContext, ToolSet};

use crate::{Approvals, ContextSettings};

/// Bounds on a turn.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many rounds of tool calls one exchange may take.
    pub max_turns: u32,
    /// What it may cost, as far as prices are known; then it ends.
    pub budget: Option<Usd>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_turns: 25, budget: None }
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
    /// Who may do what.
    pub approvals: Approvals,
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
    /// How the user wants it to be, in his words.
    pub persona: Option<String>,
    /// How much is sent.
    pub context: ContextSettings,
    /// Whether somebody summarises what will leave the window; if nobody does, it is quoted.
    pub asks_for_digests: bool,
    /// Whether what was said gets its vectors at once; if not, somebody else gives them.
    pub embeds_at_once: bool,
    /// Of a sub-agent: what it remembers of its own last runs, in the place of a conversation.
    pub(crate) runs: Option<Arc<Vec<Vec<Message>>>>,
    /// What was said once already.
    pub(crate) said: Arc<Mutex<HashSet<String>>>,
    /// What models were found to take, by refusing more.
    pub(crate) learned: Arc<Mutex<HashMap<String, u64>>>,
}

impl Agent {
    /// An agent with every tool and the usual limits, that asks memory if that is switched on.
    pub fn new(model: Arc<dyn ChatModel>, tool_context: ToolContext) -> Self {
        let recall = tool_context.recall.clone();
        Self {
            store: Arc::clone(&tool_context.store),
            model,
            tools: Arc::new(ToolSet::all().for_store(tool_context.store.as_ref())),
            approvals: Approvals::default(),
            tool_context,
            clock: Arc::clone(&recall.clock),
            zone: recall.zone.clone(),
            recall: recall.settings.enabled.then_some(recall),
            limits: Limits::default(),
            persona: None,
            context: ContextSettings::default(),
            asks_for_digests: false,
            embeds_at_once: true,
            runs: None,
            said: Arc::default(),
            learned: Arc::default(),
        }
    }
}
