//! The state of a session, which can change between turns.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
};

use memoir_core::{ExchangeId, Image, Message, lock};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_tools::ToolSet;

use crate::{Approvals, ContextSettings, CurrentConversation, images::RecentImages};

/// The state of one session: the model, the tools, the permissions and the conversation.
///
/// A turn borrows it mutably, so one state runs one turn at a time. Change any field between turns; the next turn
/// uses the new value.
#[derive(Clone)]
pub struct AgentState {
    /// Model that answers the prompts.
    pub model: Arc<dyn ChatModel>,
    /// Tools that are offered to the model.
    pub tools: Arc<ToolSet>,
    /// Decides which tool calls may run.
    pub approvals: Approvals,
    /// Searches memory. Prompts are sent with recalled passages only if `recall.settings.enabled` is set; tools can
    /// search memory either way.
    pub recall: Recall,
    /// Persona: instructions of the user that are added to the system prompt.
    pub persona: Option<String>,
    /// Whether the user trusts the project, so that its AGENTS.md is part of the system prompt.
    pub follows_project: bool,
    /// Token limits of the context layers.
    pub context: ContextSettings,
    /// Whether a worker summarizes exchanges before they leave the window. Otherwise, extracts from them are sent.
    pub requests_digests: bool,
    /// Whether each turn embeds its own exchange. Otherwise, a worker does it later.
    pub embeds_immediately: bool,
    /// Conversation that the next turn continues.
    pub conversation: CurrentConversation,
    /// For a sub-agent: the messages of its previous runs, which replace the conversation in a request.
    pub(crate) previous_runs: Option<Arc<Vec<Vec<Message>>>>,
    pub(crate) images: RecentImages,
    shown_notices: Arc<Mutex<HashSet<String>>>,
    /// Context limits by model name, learned when a model rejected a larger request. Sub-agents share them.
    learned_limits: Arc<Mutex<HashMap<String, u64>>>,
    /// Names of models that have rejected images.
    blind_models: Arc<Mutex<HashSet<String>>>,
}

impl AgentState {
    /// Creates a state with the default settings, in which the user cannot be asked for permission.
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
            follows_project: true,
            context: ContextSettings::default(),
            requests_digests: false,
            embeds_immediately: true,
            conversation,
            previous_runs: None,
            images: RecentImages::default(),
            shown_notices: Arc::default(),
            learned_limits: Arc::default(),
            blind_models: Arc::default(),
        }
    }

    /// Returns the images that were attached to the prompt of a recent exchange.
    pub fn images(&self, exchange: ExchangeId) -> &[Image] {
        self.images.find(exchange)
    }

    /// Returns the recall for prompts, or `None` if automatic recall is off.
    pub(crate) fn automatic_recall(&self) -> Option<&Recall> {
        self.recall.settings.enabled.then_some(&self.recall)
    }

    pub(crate) fn scope(&self) -> Option<&str> {
        self.recall.scope.as_deref()
    }

    /// Returns the state of a sub-agent, with the same model and settings.
    pub(crate) fn for_subagent(&self, previous_runs: Vec<Vec<Message>>) -> Self {
        let mut state = self.clone();
        state.conversation = CurrentConversation::new(self.scope().unwrap_or_default());
        state.previous_runs = Some(Arc::new(previous_runs));
        state.shown_notices = Arc::default();
        state
    }

    /// Records that `notice` has been shown. Returns `false` if it was shown before.
    pub(crate) fn mark_shown(&self, notice: &str) -> bool {
        lock(&self.shown_notices).insert(notice.to_owned())
    }

    /// Records that the model rejected a request of `rejected_tokens` and stated its limit, so that later requests are
    /// smaller. Our counts may be too low, so that they must become smaller in any case.
    pub(crate) fn learn_limit(&self, rejected_tokens: u64, stated: Option<u64>) {
        let limit = (rejected_tokens.saturating_mul(3) / 4).min(stated.unwrap_or(u64::MAX));
        let mut limits = lock(&self.learned_limits);
        let stored_limit = limits.entry(self.model.name().to_owned()).or_insert(limit);
        *stored_limit = limit.min(*stored_limit);
    }

    /// Records that the model rejected images.
    pub(crate) fn learn_blindness(&self) {
        lock(&self.blind_models).insert(self.model.name().to_owned());
    }

    pub(crate) fn is_known_blind(&self) -> bool {
        lock(&self.blind_models).contains(self.model.name())
    }

    pub(crate) fn learned_limit(&self) -> Option<u64> {
        lock(&self.learned_limits).get(self.model.name()).copied()
    }
}
