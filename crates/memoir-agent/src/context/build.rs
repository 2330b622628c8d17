//! Gathering the layers side by side under one deadline, and putting them together.

use std::{collections::VecDeque, time::Duration};

use memoir_core::{CoreEntry, Passage, Provenance, Recalled, Recollection, ToolSpec};
use memoir_models::{ChatMessage, ChatRequest, ModelLimits};
use memoir_recall::QueryKind;
use memoir_store::Filter;
use tokio::time::Instant;

use super::{
    Placement,
    budget::{Budget, LimitedBy},
    core_memory, cut, digest, document, earlier,
    fragment::{ContextReport, Fragment, Layer, tokens},
    notices::{Notices, by, left_out},
    past::Past,
    request::{self, Context},
    spelling,
    system::{self, AgentsFile, SYSTEM_PROMPT},
    window,
};
use crate::{TurnError, subagent::ALONE, turn::Turn};

/// What comes later is left out.
const DEADLINE: Duration = Duration::from_secs(2);

/// What the frame of quoted memory takes, and what it says of conversations.
const MEMORY_FRAME: u64 = 400;

/// What the prompt takes beside its words: a message, and a title after what is quoted.
const PROMPT_FRAME: u64 = window::PER_MESSAGE + 16;

/// What the frame of what is quoted from earlier takes.
const EARLIER_FRAME: u64 = 32;

/// What spelling hints take, at most.
const SPELLING: u64 = 120;

/// What a context is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltFor {
    /// It is sent: when the window moves, that is noted.
    Sending,
    /// Someone wants to see it: nothing is changed.
    Looking,
}

/// What does not depend on what memory says.
struct Basis {
    budget: Budget,
    system: Fragment,
    /// Whether the project has had a word in that, or others in the descriptions of tools.
    by_others: bool,
    core: Fragment,
    tools: Vec<ToolSpec>,
    tool_tokens: u64,
    /// The prompt as it is sent.
    prompt: Fragment,
    /// What is set aside for what memory says and for spelling hints.
    for_quotes: u64,
    /// What is set aside for a digest.
    for_digest: u64,
    past: Past,
    /// What is relevant of what has left the window.
    earlier: Recollection,
}

impl Turn<'_> {
    /// What is sent for `prompt`. Only a store that fails to give the conversation itself is an error: everything else
    /// that is late or fails is left out.
    pub(crate) async fn build_context(
        self,
        prompt: &str,
        built_for: BuiltFor,
        notices: &mut Notices,
    ) -> Result<Context, TurnError> {
        if self.state.model.provenance() == Provenance::Derived {
            return Ok(self.memory_alone(prompt, Instant::now() + DEADLINE, notices).await);
        }
        // A server may have to be asked for this, once; the others' time begins afterwards.
        let limits = by(Instant::now() + DEADLINE, "What the model takes", self.state.model.limits()).await;
        let mut limits = notices.take(limits).unwrap_or_default();
        if let Some(learned) = self.state.learned_limit() {
            limits.context = Some(limits.context.map_or(learned, |known| known.min(learned)));
        }
        let deadline = Instant::now() + DEADLINE;
        let budget = Budget::new(&self.state.context, &limits);
        if budget.by == LimitedBy::Assumption {
            notices.details.push(format!(
                "What {} takes is not known; {} tokens are assumed. Say it in the config: [[model]] context = N.",
                self.state.model.name(),
                budget.limit
            ));
        }
        let for_memory = self
            .state
            .automatic_recall()
            .map_or(0, |recall| (recall.settings.token_budget + MEMORY_FRAME).min(budget.part(8)));
        let mut told = Notices::default();
        let (basis, elsewhere, hints) = tokio::join!(
            self.basis(prompt, &limits, budget, for_memory, deadline, &mut told),
            self.elsewhere(prompt, for_memory, deadline),
            self.hints(prompt, deadline),
        );
        notices.append(told);
        let basis = basis?;
        if built_for == BuiltFor::Sending {
            self.refuse_unseen(&basis.past)?;
        }
        let mut elsewhere = notices.recollection(elsewhere);
        // Of a conversation that this one branched off, what stands in the window is not quoted again.
        let stands = |id| basis.past.exchanges.iter().any(|exchange| exchange.id == id);
        let (again, others): (Vec<_>, Vec<_>) = std::mem::take(&mut elsewhere.passages)
            .into_iter()
            .partition(|passage| stands(passage.exchange_id));
        let said_here = |id| again.iter().any(|passage| passage.conversation_id == id);
        elsewhere.conversations.retain(|related| {
            !said_here(related.id) || others.iter().any(|passage| passage.conversation_id == related.id)
        });
        elsewhere.passages = others;
        let (memory, memory_text) = fit(elsewhere, for_memory.min(basis.for_quotes), |memory| {
            memoir_recall::context(memory, self.state.scope(), &self.agent.zone).unwrap_or_default()
        });
        let hints = spelling::section(&notices.take(hints).unwrap_or_default());
        let for_hints = SPELLING.min(basis.for_quotes.saturating_sub(tokens(&memory_text)));
        let hints = if tokens(&hints) <= for_hints { hints } else { String::new() };
        notices.details.extend(basis.earlier.notices.iter().cloned());
        let quoted = Quoted { memory, memory_text, hints };
        Ok(self.assemble(basis, limits, quoted, built_for, notices).await)
    }

    /// The one model that answers with memory is handed it, this conversation's included; it reads nothing else.
    async fn memory_alone(self, prompt: &str, deadline: Instant, notices: &mut Notices) -> Context {
        let recall = async {
            match self.state.automatic_recall() {
                Some(recall) => recall.ask(prompt, QueryKind::Prompt, Filter::default()).await,
                None => Recollection::default(),
            }
        };
        let memory = notices.recollection(by(deadline, "Asking memory", recall).await);
        let message = ChatMessage::User(prompt.to_owned());
        let size = request::size(&message);
        Context {
            recalled: Recalled { passages: memory.passages.clone(), documents: memory.documents.clone() },
            request: ChatRequest { messages: vec![message], memory, ..ChatRequest::default() },
            by_others: false,
            room: u64::MAX,
            fixed: 0,
            window: VecDeque::new(),
            running: vec![size],
            quoted_earlier: 0,
            window_room: u64::MAX,
            model_takes: None,
            how_to_change: "",
            report: ContextReport { limit: 0, reply: 0, layers: Layer::ALL.map(|layer| (layer, 0)).to_vec() },
        }
    }

    /// What past conversations say about the prompt.
    async fn elsewhere(self, prompt: &str, room: u64, deadline: Instant) -> Result<Recollection, String> {
        let Some(recall) = self.state.automatic_recall() else { return Ok(Recollection::default()) };
        let mut recall = recall.clone();
        recall.settings.token_budget = room.saturating_sub(MEMORY_FRAME);
        let filter = Filter { except: self.state.conversation.id(), ..Filter::default() };
        by(deadline, "Asking memory", recall.ask(prompt, QueryKind::Prompt, filter)).await
    }

    async fn hints(self, prompt: &str, deadline: Instant) -> Result<Vec<spelling::Hint>, String> {
        if !self.state.context.spelling {
            return Ok(Vec::new());
        }
        let hints =
            by(deadline, "Looking for slips", spelling::hints(prompt, self.agent.store.as_ref())).await?;
        hints.map_err(|error| left_out("Looking for slips", &format!("failed ({error})")))
    }

    /// System prompt, core memory, tools, prompt and window, and what is relevant of what has left it.
    #[expect(clippy::too_many_arguments, reason = "what it stands on")]
    async fn basis(
        self,
        prompt: &str,
        limits: &ModelLimits,
        mut budget: Budget,
        for_memory: u64,
        deadline: Instant,
        notices: &mut Notices,
    ) -> Result<Basis, TurnError> {
        let longest_message = budget.part(4);
        let (files, core, past) = tokio::join!(
            by(deadline, "AGENTS.md", self.agents_files()),
            by(deadline, "Core memory", self.agent.store.core_memory(self.state.scope().unwrap_or_default())),
            self.past(longest_message),
        );
        let past = past?;
        let files = notices.take(files).unwrap_or_default();
        let core = notices.take(core).and_then(|core| {
            notices
                .take(core.map_err(|error| left_out("Core memory", &format!("could not be read ({error})"))))
        });

        // Who comes first gets his part first; what is left is the window's.
        let system = self.system_prompt();
        budget.grant(tokens(&system));
        let prompt = self.cut_prompt(prompt, &mut budget, notices);
        let agents = self.agents(&files, &mut budget, notices);
        let core = core_section(&core.unwrap_or_default(), &mut budget, notices);
        let (tools, tool_tokens) = self.offered_tools(limits, &mut budget, notices);
        let for_quotes = budget.grant(for_memory + if self.state.context.spelling { SPELLING } else { 0 });

        // The digest's part is its own only when there is one.
        let for_digest = self.state.context.summary_tokens.min(budget.part(8)) + budget.part(16);
        // A sub-agent's runs are told whole or not at all.
        let for_digest = if self.state.runs.is_some() { 0 } else { for_digest.min(budget.left()) };
        let past = self.grown_back(past, longest_message, budget.left().saturating_sub(for_digest)).await?;
        let everything_fits = past.first_kept(budget.left(), for_digest) == 0 && !past.has_left();
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
        if let (false, Some(id), Some(recall)) =
            (everything_fits, self.state.conversation.id(), self.state.automatic_recall())
        {
            let room = self.state.context.recall_tokens.min(basis.budget.part(8));
            let reserved = basis.budget.grant(room);
            if reserved > 0 {
                let first = basis.past.first_kept(basis.budget.left(), for_digest);
                let window = basis.past.exchanges.get(first).map(|exchange| exchange.id);
                let search = earlier::search(recall, &basis.prompt.text, id, window, reserved);
                let found = by(deadline, "Looking back in this conversation", search).await;
                basis.earlier = notices.take(found).unwrap_or_default();
                let (text, passages) =
                    earlier::section(std::mem::take(&mut basis.earlier.passages), &self.agent.zone, reserved);
                basis.budget.give_back(reserved - tokens(&text).min(reserved));
                basis.earlier.passages = passages;
            }
        }
        Ok(basis)
    }

    /// Who the model is here: as the user wants it. A sub-agent is told that it is one.
    fn system_prompt(self) -> String {
        match (&self.state.runs, &self.state.persona) {
            (Some(_), _) => join(SYSTEM_PROMPT, ALONE),
            (None, Some(persona)) => join(SYSTEM_PROMPT, persona),
            (None, None) => SYSTEM_PROMPT.to_owned(),
        }
    }

    async fn agents_files(self) -> Vec<AgentsFile> {
        let project = self.agent.workspace.project().to_owned();
        tokio::task::spawn_blocking(move || system::agents_files(&project)).await.unwrap_or_default()
    }

    /// The prompt takes half of the room at most.
    fn cut_prompt(self, prompt: &str, budget: &mut Budget, notices: &mut Notices) -> Fragment {
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

    fn agents(self, files: &[AgentsFile], budget: &mut Budget, notices: &mut Notices) -> String {
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

    /// Puts it together. What is not used by the others is the window's.
    async fn assemble(
        self,
        basis: Basis,
        limits: ModelLimits,
        quoted: Quoted,
        built_for: BuiltFor,
        notices: &mut Notices,
    ) -> Context {
        let Basis {
            mut budget,
            system,
            by_others,
            core,
            tools,
            tool_tokens,
            prompt,
            for_digest,
            past,
            earlier,
            ..
        } = basis;
        let quoted_tokens = tokens(&quoted.memory_text) + tokens(&quoted.hints);
        let reserved = budget.room - budget.left();
        // Everything that is known by now, and nothing set aside.
        let known = system.tokens
            + core.tokens
            + tool_tokens
            + prompt.tokens
            + PROMPT_FRAME
            + quoted_tokens
            + earlier.passages.iter().map(|passage| passage.tokens).sum::<u64>()
            + if earlier.passages.is_empty() { 0 } else { EARLIER_FRAME };
        budget.give_back(reserved.saturating_sub(known));
        let window_room = budget.left().saturating_sub(for_digest);
        let first = past.first_kept(budget.left(), for_digest);
        let digest = match self.state.runs {
            Some(_) => None,
            None => self.digest(&past, first, built_for, notices).await,
        };
        let summary = digest
            .filter(|digest| digest.through.get() > 0)
            .map_or_else(Fragment::nothing, |digest| Fragment::new(digest::section(&digest, for_digest)));
        let kept = &past.exchanges[first..];
        // The window may have become larger than it was when it was searched past.
        let outside = |passage: &Passage| kept.first().is_none_or(|first| passage.exchange_id < first.id);
        let passages: Vec<Passage> = earlier.passages.into_iter().filter(outside).collect();
        let (earlier, quoted_passages) = earlier::section(passages, &self.agent.zone, u64::MAX);
        let earlier = Fragment::new(earlier);

        let mut messages: Vec<ChatMessage> =
            kept.iter().flat_map(|exchange| exchange.messages.clone()).collect();
        let stable_messages = messages.len();
        let tail = self.state.context.recall_placement == Placement::Tail;
        let (before, beside) = if tail { ("", earlier.text.as_str()) } else { (earlier.text.as_str(), "") };
        let said =
            ChatMessage::User(document::write(&[beside, &quoted.memory_text, &quoted.hints], &prompt.text));
        let running = request::size(&said);
        messages.push(said);
        let system_text = join(&join(&join(&system.text, &core.text), &summary.text), before);
        let window: VecDeque<(usize, u64)> =
            kept.iter().map(|exchange| (exchange.messages.len(), exchange.tokens)).collect();
        let quoted_earlier = if tail { earlier.tokens } else { 0 };
        let fixed =
            system.tokens + core.tokens + summary.tokens + tool_tokens + (earlier.tokens - quoted_earlier);
        let window_tokens: u64 = window.iter().map(|(_, tokens)| tokens).sum();
        let sizes = [
            system.tokens,
            core.tokens,
            summary.tokens,
            earlier.tokens,
            window_tokens,
            tool_tokens,
            running - quoted_earlier.min(running),
        ];
        let recalled = Recalled {
            passages: quoted.memory.passages.iter().cloned().chain(quoted_passages).collect(),
            documents: quoted.memory.documents.clone(),
        };
        let mut context = Context {
            request: ChatRequest {
                system: system_text,
                messages,
                stable_messages,
                tools,
                memory: quoted.memory,
                longest_reply: None,
            },
            recalled,
            by_others: by_others || summary.tokens > 0 || kept.iter().any(|exchange| exchange.by_others),
            room: budget.room,
            fixed,
            window,
            running: vec![running],
            quoted_earlier,
            window_room,
            model_takes: limits.context,
            how_to_change: budget.how_to_change(),
            report: ContextReport {
                limit: budget.limit,
                reply: budget.reply,
                layers: Layer::ALL.into_iter().zip(sizes).collect(),
            },
        };
        // It fits by now; should a count have been off, this makes it.
        context.shrink();
        context
    }
}

/// What is quoted beside the prompt.
struct Quoted {
    memory: Recollection,
    memory_text: String,
    hints: String,
}

/// As many passages, the best first, as `write` puts within the room.
fn fit(
    mut memory: Recollection,
    room: u64,
    write: impl Fn(&Recollection) -> String,
) -> (Recollection, String) {
    loop {
        let text = write(&memory);
        if tokens(&text) <= room || (memory.documents.pop().is_none() && memory.passages.pop().is_none()) {
            return (memory, text);
        }
    }
}

fn core_section(entries: &[CoreEntry], budget: &mut Budget, notices: &mut Notices) -> Fragment {
    let (text, was_cut) = core_memory::section(entries, budget.part(8).min(budget.left()));
    if was_cut {
        notices.lasting.push(format!("Core memory was cut to fit; {}.", budget.how_to_change()));
    }
    let core = Fragment::new(text);
    budget.grant(core.tokens);
    core
}

fn join(first: &str, second: &str) -> String {
    match (first, second) {
        ("", only) | (only, "") => only.to_owned(),
        (first, second) => format!("{first}\n\n{second}"),
    }
}
