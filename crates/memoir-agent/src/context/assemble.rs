//! Assembles the layers into one request.

use std::collections::VecDeque;

use memoir_core::{Image, Passage, RecalledPassages, Recollection};
use memoir_models::{ChatMessage, ChatRequest, ModelLimits};

use super::{
    Placement,
    base_layers::BaseLayers,
    budget::Budget,
    build_input::{BuildPurpose, PROMPT_OVERHEAD},
    digest, document, earlier,
    fragment::{ContextReport, Fragment, Layer, join, tokens},
    history::History,
    notices::Notices,
    request::{self, Context},
    window::PastExchange,
};
use crate::active_turn::ActiveTurn;

/// Tokens of the text around passages from earlier in the conversation.
const EARLIER_OVERHEAD: u64 = 32;

/// Sections that are sent in front of the prompt.
pub(super) struct Quotations {
    pub(super) memory: Recollection,
    pub(super) memory_text: String,
    pub(super) hints: String,
}

struct EarlierSection {
    fragment: Fragment,
    passages: Vec<Passage>,
    /// Whether the section is next to the prompt instead of in front of the window.
    is_at_tail: bool,
}

impl EarlierSection {
    /// Returns the text for the system prompt and the text for the prompt's message. One of them is empty.
    fn split(&self) -> (&str, &str) {
        if self.is_at_tail { ("", &self.fragment.text) } else { (&self.fragment.text, "") }
    }

    /// Returns the number of tokens in the prompt's message.
    fn tail_tokens(&self) -> u64 {
        if self.is_at_tail { self.fragment.tokens } else { 0 }
    }
}

struct RequestMessages {
    messages: Vec<ChatMessage>,
    /// Number of messages in the window.
    stable: usize,
    /// Number of messages and tokens of each exchange in the window.
    window: VecDeque<(usize, u64)>,
    prompt_tokens: u64,
}

impl ActiveTurn<'_> {
    /// Assembles the layers. The window gets the tokens that the other layers do not use.
    pub(super) async fn assemble(
        self,
        mut base: BaseLayers,
        limits: ModelLimits,
        quotations: Quotations,
        purpose: BuildPurpose,
        notices: &mut Notices,
    ) -> Context {
        release_unused(&mut base, &quotations);
        let window_room = base.budget.remaining().saturating_sub(base.digest_budget);
        let first = base.history.window_start(base.budget.remaining(), base.digest_budget);
        let summary = self.write_summary(&base.history, first, base.digest_budget, purpose, notices).await;
        let window = &base.history.exchanges[first..];
        let earlier = self.write_earlier_section(std::mem::take(&mut base.earlier.passages), window);
        let (before_window, before_prompt) = earlier.split();
        let sections = [before_prompt, &quotations.memory_text, &quotations.hints];
        let document = document::write(&sections, &base.prompt.text);
        let messages = write_messages(window, document, std::mem::take(&mut base.images));
        let has_untrusted_text = base.has_untrusted_text
            || summary.tokens > 0
            || window.iter().any(|exchange| exchange.has_untrusted_text);
        let system = join(&join(&join(&base.system.text, &base.core.text), &summary.text), before_window);
        let report = measure(&base, &summary, &earlier, &messages);
        let fixed = base.system.tokens
            + base.core.tokens
            + summary.tokens
            + base.tool_tokens
            + (earlier.fragment.tokens - earlier.tail_tokens());
        let earlier_tokens = earlier.tail_tokens();
        let recalled = RecalledPassages {
            passages: quotations.memory.passages.iter().cloned().chain(earlier.passages).collect(),
            documents: quotations.memory.documents.clone(),
        };
        let Budget { room, .. } = base.budget;
        let mut context = Context {
            request: ChatRequest {
                system,
                messages: messages.messages,
                stable_messages: messages.stable,
                tools: base.tools,
                memory: quotations.memory,
                max_output_tokens: None,
            },
            recalled,
            has_untrusted_text,
            room,
            fixed,
            window: messages.window,
            tail_tokens: vec![messages.prompt_tokens],
            earlier_tokens,
            window_room,
            model_context: limits.context,
            takes_images: limits.images != Some(false),
            advice: base.budget.advice(),
            report,
        };
        // The request should fit by now. This corrects estimates that were too low.
        context.shrink();
        context
    }

    /// Returns the digest of the exchanges that have left the window, which is empty if none have.
    async fn write_summary(
        self,
        history: &History,
        first: usize,
        room: u64,
        purpose: BuildPurpose,
        notices: &mut Notices,
    ) -> Fragment {
        if self.state.previous_runs.is_some() {
            return Fragment::empty();
        }
        self.advance_digest(history, first, purpose, notices)
            .await
            .filter(|digest| digest.through.get() > 0)
            .map_or_else(Fragment::empty, |digest| Fragment::new(digest::section(&digest, room)))
    }

    /// Returns the section with passages from earlier in the conversation. Passages that are in the window are
    /// dropped, because the window may have grown since the search.
    fn write_earlier_section(self, passages: Vec<Passage>, window: &[PastExchange]) -> EarlierSection {
        let is_outside = |passage: &Passage| window.iter().all(|exchange| exchange.id != passage.exchange_id);
        let passages: Vec<Passage> = passages.into_iter().filter(is_outside).collect();
        let (text, passages) = earlier::section(passages, &self.agent.zone, u64::MAX);
        let is_at_tail = self.state.context.recall_placement == Placement::Tail;
        EarlierSection { fragment: Fragment::new(text), passages, is_at_tail }
    }
}

fn release_unused(base: &mut BaseLayers, quotations: &Quotations) {
    let reserved = base.budget.room - base.budget.remaining();
    let passages = &base.earlier.passages;
    let used = base.system.tokens
        + base.core.tokens
        + base.tool_tokens
        + base.prompt.tokens
        + PROMPT_OVERHEAD
        + tokens(&quotations.memory_text)
        + tokens(&quotations.hints)
        + passages.iter().map(|passage| passage.tokens).sum::<u64>()
        + if passages.is_empty() { 0 } else { EARLIER_OVERHEAD };
    base.budget.release(reserved.saturating_sub(used));
}

/// Returns the messages of the window, followed by the document that contains the prompt.
fn write_messages(window: &[PastExchange], document: String, images: Vec<Image>) -> RequestMessages {
    let mut messages: Vec<ChatMessage> =
        window.iter().flat_map(|exchange| exchange.messages.clone()).collect();
    let stable = messages.len();
    let prompt = ChatMessage::User { text: document, images };
    let prompt_tokens = request::size(&prompt);
    messages.push(prompt);
    let window = window.iter().map(|exchange| (exchange.messages.len(), exchange.tokens)).collect();
    RequestMessages { messages, stable, window, prompt_tokens }
}

fn measure(
    base: &BaseLayers,
    summary: &Fragment,
    earlier: &EarlierSection,
    messages: &RequestMessages,
) -> ContextReport {
    let sizes = [
        base.system.tokens,
        base.core.tokens,
        summary.tokens,
        earlier.fragment.tokens,
        messages.window.iter().map(|(_, tokens)| tokens).sum(),
        base.tool_tokens,
        messages.prompt_tokens - earlier.tail_tokens().min(messages.prompt_tokens),
    ];
    ContextReport {
        max_tokens: base.budget.limit,
        answer_tokens: base.budget.reply,
        layers: Layer::ALL.into_iter().zip(sizes).collect(),
    }
}
