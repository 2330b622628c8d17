//! Gathers the layers that do not depend on a memory search: system prompt, core memory, tools, prompt and window.

use memoir_core::{CoreEntry, Image, Recollection, ToolSpec};

use super::{
    budget::Budget,
    build_input::{BuildInput, MAX_SPELLING_TOKENS, PROMPT_OVERHEAD},
    core_memory, earlier,
    fragment::{Fragment, join, tokens},
    history::History,
    notices::{Notices, SkipReason, SkippedPart, finish_by},
    system::{self, AgentsFile, SYSTEM_PROMPT},
    truncate,
};
use crate::{TurnError, active_turn::ActiveTurn, images, subagent::SUBAGENT_PROMPT};

pub(super) struct BaseLayers {
    pub(super) budget: Budget,
    pub(super) system: Fragment,
    /// Whether the project wrote a part of the system prompt, or a server described tools.
    pub(super) has_untrusted_text: bool,
    pub(super) core: Fragment,
    pub(super) tools: Vec<ToolSpec>,
    pub(super) tool_tokens: u64,
    /// The prompt, truncated if it is too long. Its size includes the images.
    pub(super) prompt: Fragment,
    pub(super) images: Vec<Image>,
    /// Tokens reserved for recalled passages and spelling hints.
    pub(super) quote_budget: u64,
    pub(super) digest_budget: u64,
    pub(super) history: History,
    /// Passages recalled from exchanges that have left the window.
    pub(super) earlier: Recollection,
}

impl ActiveTurn<'_> {
    pub(super) async fn gather_base_layers(
        self,
        input: BuildInput<'_>,
        notices: &mut Notices,
    ) -> Result<BaseLayers, TurnError> {
        let BuildInput { mut budget, deadline, .. } = input;
        let max_message_tokens = budget.fraction(4);
        let scope = self.state.scope().unwrap_or_default();
        let (files, core, history) = tokio::join!(
            finish_by(deadline, "Reading AGENTS.md", self.read_agents_files()),
            finish_by(deadline, "Core memory", self.agent.store.core_memory(scope)),
            self.read_history(max_message_tokens),
        );
        let history = history?;
        let files = notices.take(files).unwrap_or_default();
        let unreadable = |error| SkippedPart { part: "Core memory", reason: SkipReason::Unreadable(error) };
        let core = notices.take(core.and_then(|core| core.map_err(unreadable))).unwrap_or_default();

        // Grant tokens in priority order. The window gets the rest.
        let system = self.write_system_prompt();
        budget.grant(tokens(&system));
        let mut prompt = truncate_prompt(input.prompt.text, &mut budget, notices);
        let images = grant_images(input.prompt.images, &mut budget, notices);
        prompt.tokens += images.iter().map(Image::tokens).sum::<u64>();
        let agents = self.write_agents_section(&files, &mut budget, notices);
        let core = write_core_section(&core, &mut budget, notices);
        let (tools, tool_tokens) = self.offered_tools(&input.limits, &mut budget, notices);
        let spelling_budget = if self.state.context.spelling { MAX_SPELLING_TOKENS } else { 0 };
        let quote_budget = budget.grant(input.memory_budget + spelling_budget);

        // Not granted yet: the window gets these tokens if there is no digest.
        let digest_budget = self.state.context.summary_tokens.min(budget.fraction(8)) + budget.fraction(16);
        // The runs of a sub-agent are sent whole or not at all, so they have no digest.
        let digest_budget =
            if self.state.previous_runs.is_some() { 0 } else { digest_budget.min(budget.remaining()) };
        let window_budget = budget.remaining().saturating_sub(digest_budget);
        let mut history = self.restore_exchanges(history, max_message_tokens, window_budget).await?;
        if input.limits.images != Some(false) {
            history
                .exchanges
                .iter_mut()
                .for_each(|exchange| exchange.add_images(self.state.images(exchange.id)));
        }
        let mut base = BaseLayers {
            has_untrusted_text: !agents.is_empty()
                || (!tools.is_empty() && self.state.tools.has_untrusted_descriptions()),
            system: Fragment::new(join(&system, &agents)),
            core,
            tools,
            tool_tokens,
            prompt,
            images: images.to_vec(),
            quote_budget,
            digest_budget,
            earlier: Recollection::default(),
            history,
            budget,
        };
        self.search_earlier(&mut base, deadline, notices).await;
        Ok(base)
    }

    /// Searches the exchanges that have left the window, if there are any and recall is on.
    async fn search_earlier(
        self,
        base: &mut BaseLayers,
        deadline: tokio::time::Instant,
        notices: &mut Notices,
    ) {
        let first = base.history.window_start(base.budget.remaining(), base.digest_budget);
        let everything_fits = first == 0 && !base.history.has_earlier_exchanges();
        let (false, Some(id), Some(recall)) =
            (everything_fits, self.state.conversation.id(), self.state.automatic_recall())
        else {
            return;
        };
        let limit = self.state.context.recall_tokens.min(base.budget.fraction(8));
        let reserved = base.budget.grant(limit);
        if reserved == 0 {
            return;
        }
        let first = base.history.window_start(base.budget.remaining(), base.digest_budget);
        let window = base.history.exchanges.get(first).map(|exchange| exchange.id);
        let search = earlier::search(recall, &base.prompt.text, id, window, reserved);
        let recollection = finish_by(deadline, "The search of this conversation", search).await;
        base.earlier = notices.take(recollection).unwrap_or_default();
        let passages = std::mem::take(&mut base.earlier.passages);
        let (text, passages) = earlier::section(passages, &self.agent.zone, reserved);
        base.budget.release(reserved - tokens(&text).min(reserved));
        base.earlier.passages = passages;
    }

    /// Returns the system prompt, with the persona or the instructions for a sub-agent.
    fn write_system_prompt(self) -> String {
        match (&self.state.previous_runs, &self.state.persona) {
            (Some(_), _) => join(SYSTEM_PROMPT, SUBAGENT_PROMPT),
            (None, Some(persona)) => join(SYSTEM_PROMPT, persona),
            (None, None) => SYSTEM_PROMPT.to_owned(),
        }
    }

    async fn read_agents_files(self) -> Vec<AgentsFile> {
        if !self.state.follows_project {
            return Vec::new();
        }
        let project = self.agent.workspace.project().to_owned();
        match tokio::task::spawn_blocking(move || system::agents_files(&project)).await {
            Ok(files) => files,
            Err(error) => {
                tracing::warn!(%error, "reading AGENTS.md panicked; the turn continues without it");
                Vec::new()
            }
        }
    }

    fn write_agents_section(
        self,
        files: &[AgentsFile],
        budget: &mut Budget,
        notices: &mut Notices,
    ) -> String {
        let limit = self.state.context.agents_tokens.min(budget.fraction(6)).min(budget.remaining());
        if self.state.context.agents_tokens == 0 {
            return String::new();
        }
        let (text, truncated_paths) = system::section(files, limit);
        for path in truncated_paths {
            let advice = if limit == self.state.context.agents_tokens {
                "Use `/context set agents_tokens N` to raise the limit."
            } else {
                budget.advice()
            };
            notices.recurring.push(format!("{} is too long and was truncated. {advice}", path.display()));
        }
        budget.grant(tokens(&text));
        text
    }
}

/// Truncates the prompt to at most half of the request.
fn truncate_prompt(prompt: &str, budget: &mut Budget, notices: &mut Notices) -> Fragment {
    let limit = budget.fraction(2).min(budget.remaining());
    let text = truncate::keep_both_ends(prompt, limit.saturating_sub(PROMPT_OVERHEAD));
    if text != prompt {
        notices.important.push(format!(
            "The prompt is too long: only {} of its {} bytes were sent, from its beginning and its end. It is stored in full. {}",
            text.len(),
            prompt.len(),
            budget.advice()
        ));
    }
    let prompt = Fragment::new(text);
    budget.grant(prompt.tokens + PROMPT_OVERHEAD);
    prompt
}

/// Returns the images that are sent: at most half of what the text leaves.
fn grant_images<'a>(images: &'a [Image], budget: &mut Budget, notices: &mut Notices) -> &'a [Image] {
    let sent = images::keep_fitting(images, budget.remaining() / 2, images::MAX_PROMPT_BYTES);
    if sent.len() < images.len() {
        notices.important.push(format!(
            "Only {} of the {} images were sent, because the others would not fit into the request. {}",
            sent.len(),
            images.len(),
            budget.advice()
        ));
    }
    budget.grant(sent.iter().map(Image::tokens).sum());
    sent
}

fn write_core_section(entries: &[CoreEntry], budget: &mut Budget, notices: &mut Notices) -> Fragment {
    let (text, is_truncated) = core_memory::section(entries, budget.fraction(8).min(budget.remaining()));
    if is_truncated {
        notices.recurring.push(format!("Core memory is too long and was truncated. {}", budget.advice()));
    }
    let core = Fragment::new(text);
    budget.grant(core.tokens);
    core
}
