//! What may change between two turns of one session.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
};

use memoir_core::{Message, lock};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_tools::ToolSet;

use crate::{Approvals, ContextSettings, CurrentConversation};

/// The state of one session: the model, the tools, the permissions and the conversation.
///
/// A turn borrows it mutably, so one state runs one turn at a time. Change any field between turns; the next turn uses the
/// new value.
#[derive(Clone)]
pub struct AgentState {
    /// The model that answers.
    pub model: Arc<dyn ChatModel>,
    /// The tools that are offered to the model.
    pub tools: Arc<ToolSet>,
    /// Which tool calls may run.
    pub approvals: Approvals,
    /// How memory is searched. Prompts are answered with quotations from memory only if `recall.settings.enabled` is set;
    /// tools can search memory either way.
    pub recall: Recall,
    /// How the user wants the model to behave, in the user's own words.
    pub persona: Option<String>,
    /// How much of each layer is sent.
    pub context: ContextSettings,
    /// Whether a worker summarizes exchanges before they leave the window. If not, they are quoted in extracts.
    pub asks_for_digests: bool,
    /// Whether each turn embeds its own exchange. If not, a worker does it later.
    pub embeds_at_once: bool,
    /// The conversation that the next turn continues.
    pub conversation: CurrentConversation,
    /// For a sub-agent: the messages of its previous runs, which are sent in place of a conversation.
    pub(crate) runs: Option<Arc<Vec<Vec<Message>>>>,
    /// Notices that hold for every turn and have been shown already.
    shown_notices: Arc<Mutex<HashSet<String>>>,
    /// Context sizes by model name, learned when a model refused a larger request. Sub-agents share them.
    learned_limits: Arc<Mutex<HashMap<String, u64>>>,
}

impl AgentState {
    /// Returns a state with the default settings and nobody to ask for permissions.
    pub fn new(
        model: Arc<dyn ChatModel>,
        tools: ToolSet,
        recall: Recall,
        conversation: CurrentConversation,
    ) -> Self {
        Self {
            model,
            tools: Arc::new(tools),
            approvals: Approvals::default(),
            recall,
            persona: None,
            context: ContextSettings::default(),
            asks_for_digests: false,
            embeds_at_once: true,
            conversation,
            runs: None,
            shown_notices: Arc::default(),
            learned_limits: Arc::default(),
        }
    }

    /// Returns the recall that prompts are answered with, unless it is switched off.
    pub(crate) fn automatic_recall(&self) -> Option<&Recall> {
        self.recall.settings.enabled.then_some(&self.recall)
    }

    /// Returns the project that the session belongs to.
    pub(crate) fn scope(&self) -> Option<&str> {
        self.recall.scope.as_deref()
    }

    /// Returns the state of a sub-agent: the same model and settings, with a record of shown notices of its own.
    pub(crate) fn for_subagent(&self, runs: Vec<Vec<Message>>) -> Self {
        let mut state = self.clone();
        state.conversation = CurrentConversation::begin(self.scope().unwrap_or_default());
        state.runs = Some(Arc::new(runs));
        state.shown_notices = Arc::default();
        state
    }

    /// Records that `notice` is shown. Returns `false` if it was shown before.
    pub(crate) fn mark_shown(&self, notice: &str) -> bool {
        lock(&self.shown_notices).insert(notice.to_owned())
    }

    /// Records that the model refused a request of `refused` tokens, so that later requests are smaller.
    pub(crate) fn learn_limit(&self, refused: u64) {
        let limit = refused.saturating_mul(3) / 4;
        let mut limits = lock(&self.learned_limits);
        let learned = limits.entry(self.model.name().to_owned()).or_insert(limit);
        *learned = limit.min(*learned);
    }

    /// Returns the context size that was learned for the current model.
    pub(crate) fn learned_limit(&self) -> Option<u64> {
        lock(&self.learned_limits).get(self.model.name()).copied()
    }
}
