//! Builds a context, gathering its layers concurrently under one deadline.

use std::{collections::VecDeque, time::Duration};

use memoir_core::{CoreEntry, Provenance, RecalledPassages, Recollection};
use memoir_models::{ChatMessage, ChatRequest, ModelLimits};
use memoir_recall::{AnswerContext, QueryKind, resolve_follow_up};
use memoir_store::Filter;
use tokio::time::Instant;

use super::{
    assemble::Quotations,
    base_layers::BaseLayers,
    budget::{Budget, LimitedBy},
    build_input::{BuildInput, BuildPurpose, MAX_SPELLING_TOKENS},
    fragment::{ContextReport, Layer, tokens},
    notices::{Notices, SkipReason, SkippedPart, finish_by},
    prompt::Prompt,
    request::{self, Context},
    spelling::{self, Hint},
};
use crate::{TurnError, active_turn::ActiveTurn};

/// Time limit for an answer from memory alone, which has nothing else to offer.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);

/// Tokens of the text around recalled passages and of the lines about their conversations.
const MEMORY_OVERHEAD: u64 = 400;

/// Tokens for memory in a small request, of which they take up at most half.
const MIN_MEMORY: u64 = 800;

const MEMORY_SEARCH: &str = "The memory search";

impl ActiveTurn<'_> {
    /// Builds the context that is sent for `prompt`. A layer that is late or fails is dropped.
    ///
    /// # Errors
    ///
    /// Fails if the conversation cannot be read, or if the context is to be sent and another session has added to the
    /// conversation.
    pub(crate) async fn build_context(
        self,
        prompt: Prompt<'_>,
        purpose: BuildPurpose,
        notices: &mut Notices,
    ) -> Result<Context, TurnError> {
        if self.state.model.provenance() == Provenance::Derived {
            self.report_unseen(prompt, notices);
            return Ok(self.build_from_memory(prompt.text, Instant::now() + ANSWER_DEADLINE, notices).await);
        }
        let limits = self.read_limits(notices).await;
        let input = self.plan_build(prompt, limits, notices);
        let mut base_notices = Notices::default();
        let (base, memory, hints) = tokio::join!(
            self.gather_base_layers(input.clone(), &mut base_notices),
            self.recall_elsewhere(&input),
            self.find_hints(&input),
        );
        notices.append(base_notices);
        let base = base?;
        if purpose == BuildPurpose::Send {
            self.check_conflict(&base.history)?;
        }
        let memory = notices.take_recollection(memory);
        let hints = notices.take(hints).unwrap_or_default();
        let quotations = self.quote(&base, memory, &hints, input.memory_budget);
        notices.details.extend(base.earlier.notices.iter().cloned());
        Ok(self.assemble(base, limits, quotations, purpose, notices).await)
    }

    /// Returns when all layers must be ready. A layer that is late is dropped from the request.
    fn deadline(self) -> Instant {
        Instant::now() + Duration::from_millis(self.state.context.deadline_ms)
    }

    /// Returns the limits of the model. This has a deadline of its own, because the first call may have to query a
    /// server.
    async fn read_limits(self, notices: &mut Notices) -> ModelLimits {
        let limits =
            finish_by(self.deadline(), "The query for the model's limits", self.state.model.limits()).await;
        let mut limits = notices.take(limits).unwrap_or_default();
        if let Some(learned_limit) = self.state.learned_limit() {
            limits.context = Some(limits.context.map_or(learned_limit, |limit| limit.min(learned_limit)));
        }
        if self.state.is_known_blind() {
            limits.images = Some(false);
        }
        limits
    }

    /// Starts the deadline and divides the budget.
    fn plan_build<'a>(
        self,
        mut prompt: Prompt<'a>,
        limits: ModelLimits,
        notices: &mut Notices,
    ) -> BuildInput<'a> {
        let deadline = self.deadline();
        let budget = Budget::new(&self.state.context, &limits);
        if budget.limited_by == LimitedBy::Assumption {
            notices.details.push(format!(
                "The context window of {} is unknown; assuming {} tokens. Set `context` under `[[model]]` in the config to change it.",
                self.state.model.name(),
                budget.limit
            ));
        }
        if limits.images == Some(false) {
            self.report_unseen(prompt, notices);
            prompt.images = &[];
        }
        // A small window must not make the model forget.
        let room = budget.fraction(8).max(MIN_MEMORY.min(budget.fraction(2)));
        let memory_budget = self
            .state
            .automatic_recall()
            .map_or(0, |recall| (recall.settings.token_budget + MEMORY_OVERHEAD).min(room));
        BuildInput { prompt, limits, budget, memory_budget, deadline }
    }

    /// Reports that the model does not get the images of the prompt.
    fn report_unseen(self, prompt: Prompt<'_>, notices: &mut Notices) {
        if !prompt.images.is_empty() {
            notices.important.push(self.describe_blindness());
        }
    }

    /// Returns a sentence for the user about images that the model did not get.
    pub(crate) fn describe_blindness(self) -> String {
        let model = self.state.model.name();
        format!(
            "{model} cannot see images, so it only got their names and sizes. Use `/model` to choose another model."
        )
    }

    /// Builds the context for the model that answers from memory alone. It contains passages from all conversations,
    /// including this one, and no other layers.
    async fn build_from_memory(self, prompt: &str, deadline: Instant, notices: &mut Notices) -> Context {
        let recall = async {
            let Some(recall) = self.state.automatic_recall() else { return Recollection::default() };
            let (core_memory, previous) = tokio::join!(self.read_core_memory(), self.read_previous());
            let previous = previous.as_ref().map(|(question, answer)| (question.as_str(), answer.as_str()));
            recall.answer(prompt, AnswerContext { core_memory: &core_memory, previous }).await
        };
        let memory = notices.take_recollection(finish_by(deadline, MEMORY_SEARCH, recall).await);
        let message = ChatMessage::user(prompt);
        let size = request::size(&message);
        Context {
            recalled: RecalledPassages {
                passages: memory.passages.clone(),
                documents: memory.documents.clone(),
            },
            request: ChatRequest { messages: vec![message], memory, ..ChatRequest::default() },
            has_untrusted_text: false,
            room: u64::MAX,
            fixed: 0,
            window: VecDeque::new(),
            tail_tokens: vec![size],
            earlier_tokens: 0,
            window_room: u64::MAX,
            model_context: None,
            takes_images: false,
            advice: "",
            report: ContextReport {
                max_tokens: 0,
                answer_tokens: 0,
                layers: Layer::ALL.map(|layer| (layer, 0)).to_vec(),
            },
        }
    }

    /// Searches other conversations and documents for passages that are relevant to the prompt.
    async fn recall_elsewhere(self, input: &BuildInput<'_>) -> Result<Recollection, SkippedPart> {
        let Some(recall) = self.state.automatic_recall() else { return Ok(Recollection::default()) };
        let mut recall = recall.clone();
        let overhead = MEMORY_OVERHEAD.min(input.memory_budget / 2);
        recall.settings.token_budget = input.memory_budget - overhead;
        let filter = Filter { excluded_conversation: self.state.conversation.id(), ..Filter::default() };
        let search = async {
            let previous = self.read_previous().await;
            let question = resolve_follow_up(
                input.prompt.text,
                previous.as_ref().map(|(question, _)| question.as_str()),
            );
            recall.ask(&question, QueryKind::Prompt, filter).await
        };
        finish_by(input.deadline, MEMORY_SEARCH, search).await
    }

    /// Returns the prompt and the answer of the last exchange in the conversation.
    async fn read_previous(self) -> Option<(String, String)> {
        let exchanges = self.agent.store.exchanges(self.state.conversation.id()?, 1).await;
        let exchange = exchanges.ok()?.pop()?;
        Some((exchange.user_message, exchange.assistant_message))
    }

    /// Returns core memory, or nothing if it cannot be read: the rest of memory may still answer.
    async fn read_core_memory(self) -> Vec<CoreEntry> {
        let project = self.state.scope().unwrap_or_default();
        self.agent.store.core_memory(project).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not read core memory");
            Vec::new()
        })
    }

    async fn find_hints(self, input: &BuildInput<'_>) -> Result<Vec<Hint>, SkippedPart> {
        const PART: &str = "The spelling check";
        if !self.state.context.spelling {
            return Ok(Vec::new());
        }
        let search = spelling::find_hints(input.prompt.text, self.agent.store.as_ref());
        let hints = finish_by(input.deadline, PART, search).await?;
        hints.map_err(|error| SkippedPart { part: PART, reason: SkipReason::Failed(error) })
    }

    /// Writes the sections in front of the prompt, as far as they fit.
    fn quote(
        self,
        base: &BaseLayers,
        memory: Recollection,
        hints: &[Hint],
        memory_budget: u64,
    ) -> Quotations {
        let memory = without_window(memory, base);
        let (memory, memory_text) = fit(memory, memory_budget.min(base.quote_budget), |memory| {
            memoir_recall::format_recollection(memory, self.state.scope(), &self.agent.zone)
                .unwrap_or_default()
        });
        let hints = spelling::section(hints);
        let hint_budget = MAX_SPELLING_TOKENS.min(base.quote_budget.saturating_sub(tokens(&memory_text)));
        let hints = if tokens(&hints) <= hint_budget { hints } else { String::new() };
        Quotations { memory, memory_text, hints }
    }
}

/// Removes passages whose exchange is already in the window. A fork shares exchanges with its parent.
fn without_window(mut memory: Recollection, base: &BaseLayers) -> Recollection {
    let is_in_window = |id| base.history.exchanges.iter().any(|exchange| exchange.id == id);
    let (repeated, others): (Vec<_>, Vec<_>) =
        memory.passages.into_iter().partition(|passage| is_in_window(passage.exchange_id));
    let is_repeated = |id| repeated.iter().any(|passage| passage.conversation_id == id);
    memory.conversations.retain(|related| {
        !is_repeated(related.id) || others.iter().any(|passage| passage.conversation_id == related.id)
    });
    memory.passages = others;
    memory
}

/// Drops the worst passages until the text that `write` returns fits into `room` tokens.
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
