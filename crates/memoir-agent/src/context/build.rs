//! Gathering the layers side by side under one deadline.

use std::{collections::VecDeque, time::Duration};

use memoir_core::{Provenance, Recalled, Recollection};
use memoir_models::{ChatMessage, ChatRequest, ModelLimits};
use memoir_recall::QueryKind;
use memoir_store::Filter;
use tokio::time::Instant;

use super::{
    assemble::Quoted,
    basis::Basis,
    budget::{Budget, LimitedBy},
    build_input::{BuildInput, BuiltFor, SPELLING},
    fragment::{ContextReport, Layer, tokens},
    notices::{LeftOut, LeftOutReason, Notices, finish_by},
    request::{self, Context},
    spelling::{self, Hint},
};
use crate::{TurnError, active_turn::ActiveTurn};

/// Deadline for gathering all layers. A layer that misses it is dropped from the request.
const DEADLINE: Duration = Duration::from_secs(2);

/// Tokens of the frame around quotations from memory and of its lines about conversations.
const MEMORY_FRAME: u64 = 400;

impl ActiveTurn<'_> {
    /// Builds what is sent for `prompt`. A layer that is late or fails is left out.
    ///
    /// # Errors
    ///
    /// Fails if the conversation itself cannot be read, or if another session has added to it and this context is to be sent.
    pub(crate) async fn build_context(
        self,
        prompt: &str,
        built_for: BuiltFor,
        notices: &mut Notices,
    ) -> Result<Context, TurnError> {
        if self.state.model.provenance() == Provenance::Derived {
            return Ok(self.build_from_memory(prompt, Instant::now() + DEADLINE, notices).await);
        }
        let limits = self.read_limits(notices).await;
        let input = self.plan_build(prompt, limits, notices);
        let mut basis_notices = Notices::default();
        let (basis, memory, hints) = tokio::join!(
            self.gather_basis(input.clone(), &mut basis_notices),
            self.recall_elsewhere(&input),
            self.find_hints(&input),
        );
        notices.append(basis_notices);
        let basis = basis?;
        if built_for == BuiltFor::Sending {
            self.refuse_unseen(&basis.past)?;
        }
        let memory = notices.take_recollection(memory);
        let hints = notices.take(hints).unwrap_or_default();
        let quoted = self.quote(&basis, memory, &hints, input.for_memory);
        notices.details.extend(basis.earlier.notices.iter().cloned());
        Ok(self.assemble(basis, limits, quoted, built_for, notices).await)
    }

    /// Returns the limits of the model. It has a deadline of its own, because a server may have to be asked for them once.
    async fn read_limits(self, notices: &mut Notices) -> ModelLimits {
        let deadline = Instant::now() + DEADLINE;
        let limits = finish_by(deadline, "What the model takes", self.state.model.limits()).await;
        let mut limits = notices.take(limits).unwrap_or_default();
        if let Some(learned) = self.state.learned_limit() {
            limits.context = Some(limits.context.map_or(learned, |stated| stated.min(learned)));
        }
        limits
    }

    /// Starts the deadline and divides the budget.
    fn plan_build<'a>(self, prompt: &'a str, limits: ModelLimits, notices: &mut Notices) -> BuildInput<'a> {
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
        BuildInput { prompt, limits, budget, for_memory, deadline }
    }

    /// Builds the context of the one model that answers from memory. It gets all of memory, this conversation included, and
    /// reads nothing else.
    async fn build_from_memory(self, prompt: &str, deadline: Instant, notices: &mut Notices) -> Context {
        let recall = async {
            match self.state.automatic_recall() {
                Some(recall) => recall.ask(prompt, QueryKind::Prompt, Filter::default()).await,
                None => Recollection::default(),
            }
        };
        let memory = notices.take_recollection(finish_by(deadline, "Asking memory", recall).await);
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

    /// Searches other conversations for what is relevant to the prompt.
    async fn recall_elsewhere(self, input: &BuildInput<'_>) -> Result<Recollection, LeftOut> {
        let Some(recall) = self.state.automatic_recall() else { return Ok(Recollection::default()) };
        let mut recall = recall.clone();
        recall.settings.token_budget = input.for_memory.saturating_sub(MEMORY_FRAME);
        let filter = Filter { except: self.state.conversation.id(), ..Filter::default() };
        finish_by(input.deadline, "Asking memory", recall.ask(input.prompt, QueryKind::Prompt, filter)).await
    }

    /// Looks for words that the user likely mistyped.
    async fn find_hints(self, input: &BuildInput<'_>) -> Result<Vec<Hint>, LeftOut> {
        const PART: &str = "Looking for slips";
        if !self.state.context.spelling {
            return Ok(Vec::new());
        }
        let search = spelling::find_hints(input.prompt, self.agent.store.as_ref());
        let hints = finish_by(input.deadline, PART, search).await?;
        hints.map_err(|error| LeftOut { part: PART, reason: LeftOutReason::Failed(error) })
    }

    /// Writes what is quoted next to the prompt, as far as it fits.
    fn quote(self, basis: &Basis, memory: Recollection, hints: &[Hint], for_memory: u64) -> Quoted {
        let memory = without_window(memory, basis);
        let (memory, memory_text) = fit(memory, for_memory.min(basis.for_quotes), |memory| {
            memoir_recall::context(memory, self.state.scope(), &self.agent.zone).unwrap_or_default()
        });
        let hints = spelling::section(hints);
        let for_hints = SPELLING.min(basis.for_quotes.saturating_sub(tokens(&memory_text)));
        let hints = if tokens(&hints) <= for_hints { hints } else { String::new() };
        Quoted { memory, memory_text, hints }
    }
}

/// Removes passages whose exchange is in the window already: a fork shares exchanges with its parent.
fn without_window(mut memory: Recollection, basis: &Basis) -> Recollection {
    let is_in_window = |id| basis.past.exchanges.iter().any(|exchange| exchange.id == id);
    let (repeated, others): (Vec<_>, Vec<_>) =
        memory.passages.into_iter().partition(|passage| is_in_window(passage.exchange_id));
    let is_repeated = |id| repeated.iter().any(|passage| passage.conversation_id == id);
    memory.conversations.retain(|related| {
        !is_repeated(related.id) || others.iter().any(|passage| passage.conversation_id == related.id)
    });
    memory.passages = others;
    memory
}

/// Drops the worst passages until what `write` makes of them takes at most `room` tokens.
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
