//! The layers that do not depend on what memory finds: system prompt, core memory, tools, prompt and window.

use memoir_core::{CoreEntry, Recollection, ToolSpec};

use super::{
    budget::Budget,
    build_input::{BuildInput, PROMPT_FRAME, SPELLING},
    core_memory, cut, earlier,
    fragment::{Fragment, join, tokens},
    notices::{LeftOut, LeftOutReason, Notices, finish_by},
    past::Past,
    system::{self, AgentsFile, SYSTEM_PROMPT},
};
use crate::{TurnError, active_turn::ActiveTurn, subagent::ALONE};

/// The layers that do not depend on what memory finds.
pub(super) struct Basis {
    pub(super) budget: Budget,
    pub(super) system: Fragment,
    /// Whether the project wrote a part of the system prompt, or others described tools.
    pub(super) by_others: bool,
    pub(super) core: Fragment,
    pub(super) tools: Vec<ToolSpec>,
    pub(super) tool_tokens: u64,
    /// The prompt as it is sent.
    pub(super) prompt: Fragment,
    /// Tokens reserved for quotations from memory and for spelling hints.
    pub(super) for_quotes: u64,
    /// Tokens reserved for a digest.
    pub(super) for_digest: u64,
    pub(super) past: Past,
    /// Passages from exchanges that have left the window.
    pub(super) earlier: Recollection,
}

impl ActiveTurn<'_> {
    /// Gathers the layers and grants each its tokens.
    pub(super) async fn gather_basis(
        self,
        input: BuildInput<'_>,
        notices: &mut Notices,
    ) -> Result<Basis, TurnError> {
        let BuildInput { mut budget, deadline, .. } = input;
        let longest_message = budget.part(4);
        let scope = self.state.scope().unwrap_or_default();
        let (files, core, past) = tokio::join!(
            finish_by(deadline, "AGENTS.md", self.read_agents_files()),
            finish_by(deadline, "Core memory", self.agent.store.core_memory(scope)),
            self.read_past(longest_message),
        );
        let past = past?;
        let files = notices.take(files).unwrap_or_default();
        let unreadable = |error| LeftOut { part: "Core memory", reason: LeftOutReason::Unreadable(error) };
        let core = notices.take(core.and_then(|core| core.map_err(unreadable))).unwrap_or_default();

        // Grant space in priority order; the window gets whatever is left.
        let system = self.write_system_prompt();
        budget.grant(tokens(&system));
        let prompt = cut_prompt(input.prompt, &mut budget, notices);
        let agents = self.write_agents_section(&files, &mut budget, notices);
        let core = write_core_section(&core, &mut budget, notices);
        let (tools, tool_tokens) = self.offered_tools(&input.limits, &mut budget, notices);
        let for_spelling = if self.state.context.spelling { SPELLING } else { 0 };
        let for_quotes = budget.grant(input.for_memory + for_spelling);

        // The digest only uses its share if there is one.
        let for_digest = self.state.context.summary_tokens.min(budget.part(8)) + budget.part(16);
        // The runs of a sub-agent are sent whole or not at all.
        let for_digest = if self.state.runs.is_some() { 0 } else { for_digest.min(budget.left()) };
        let past = self.grow_back(past, longest_message, budget.left().saturating_sub(for_digest)).await?;
        let mut basis = Basis {
            by_others: !agents.is_empty()
                || (!tools.is_empty() && self.state.tools.are_described_by_others()),
            system: Fragment::new(join(&system, &agents)),
            core,
            tools,
            tool_tokens,
            prompt,
            for_quotes,
            for_digest,
            earlier: Recollection::default(),
            past,
            budget,
        };
        self.search_earlier(&mut basis, deadline, notices).await;
        Ok(basis)
    }

    /// Searches the exchanges that have left the window, if any have and recall is on.
    async fn search_earlier(self, basis: &mut Basis, deadline: tokio::time::Instant, notices: &mut Notices) {
        let first = basis.past.first_kept(basis.budget.left(), basis.for_digest);
        let everything_fits = first == 0 && !basis.past.has_left();
        let (false, Some(id), Some(recall)) =
            (everything_fits, self.state.conversation.id(), self.state.automatic_recall())
        else {
            return;
        };
        let wanted = self.state.context.recall_tokens.min(basis.budget.part(8));
        let reserved = basis.budget.grant(wanted);
        if reserved == 0 {
            return;
        }
        let first = basis.past.first_kept(basis.budget.left(), basis.for_digest);
        let window = basis.past.exchanges.get(first).map(|exchange| exchange.id);
        let search = earlier::search(recall, &basis.prompt.text, id, window, reserved);
        let matches = finish_by(deadline, "Looking back in this conversation", search).await;
        basis.earlier = notices.take(matches).unwrap_or_default();
        let passages = std::mem::take(&mut basis.earlier.passages);
        let (text, passages) = earlier::section(passages, &self.agent.zone, reserved);
        basis.budget.give_back(reserved - tokens(&text).min(reserved));
        basis.earlier.passages = passages;
    }

    /// Returns the system prompt with the persona. A sub-agent is told that it is one.
    fn write_system_prompt(self) -> String {
        match (&self.state.runs, &self.state.persona) {
            (Some(_), _) => join(SYSTEM_PROMPT, ALONE),
            (None, Some(persona)) => join(SYSTEM_PROMPT, persona),
            (None, None) => SYSTEM_PROMPT.to_owned(),
        }
    }

    async fn read_agents_files(self) -> Vec<AgentsFile> {
        let project = self.agent.workspace.project().to_owned();
        match tokio::task::spawn_blocking(move || system::agents_files(&project)).await {
            Ok(files) => files,
            Err(error) => {
                tracing::warn!(%error, "reading AGENTS.md crashed, the turn goes on without it");
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
        let most = self.state.context.agents_tokens.min(budget.part(6)).min(budget.left());
        if self.state.context.agents_tokens == 0 {
            return String::new();
        }
        let (text, cut) = system::section(files, most);
        for path in cut {
            let how = if most == self.state.context.agents_tokens {
                "/context set agents_tokens N gives it more room"
            } else {
                budget.how_to_change()
            };
            notices.lasting.push(format!("{} is too long and was cut; {how}.", path.display()));
        }
        budget.grant(tokens(&text));
        text
    }
}

/// Cuts the prompt to at most half of the room.
fn cut_prompt(prompt: &str, budget: &mut Budget, notices: &mut Notices) -> Fragment {
    let most = budget.part(2).min(budget.left());
    let sent = cut::from_both_ends(prompt, most.saturating_sub(PROMPT_FRAME));
    if sent != prompt {
        notices.important.push(format!(
            "The message is too large: {} of its {} bytes were sent, from its beginning and its end. It is kept whole; {}.",
            sent.len(),
            prompt.len(),
            budget.how_to_change()
        ));
    }
    let sent = Fragment::new(sent);
    budget.grant(sent.tokens + PROMPT_FRAME);
    sent
}

fn write_core_section(entries: &[CoreEntry], budget: &mut Budget, notices: &mut Notices) -> Fragment {
    let (text, was_cut) = core_memory::section(entries, budget.part(8).min(budget.left()));
    if was_cut {
        notices.lasting.push(format!("Core memory was cut to fit; {}.", budget.how_to_change()));
    }
    let core = Fragment::new(text);
    budget.grant(core.tokens);
    core
}
