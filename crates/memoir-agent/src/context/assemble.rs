//! Putting the layers together into one request.

use std::collections::VecDeque;

use memoir_core::{Passage, Recalled, Recollection};
use memoir_models::{ChatMessage, ChatRequest, ModelLimits};

use super::{
    Placement,
    basis::Basis,
    budget::Budget,
    build_input::{BuiltFor, PROMPT_FRAME},
    digest, document, earlier,
    fragment::{ContextReport, Fragment, Layer, join, tokens},
    notices::Notices,
    past::Past,
    request::{self, Context},
    window::PastExchange,
};
use crate::active_turn::ActiveTurn;

/// Tokens of the frame around passages from earlier in the conversation.
const EARLIER_FRAME: u64 = 32;

/// What is quoted next to the prompt.
pub(super) struct Quoted {
    pub(super) memory: Recollection,
    pub(super) memory_text: String,
    pub(super) hints: String,
}

/// The passages from earlier in the conversation, as they are sent.
struct Earlier {
    fragment: Fragment,
    passages: Vec<Passage>,
    /// Whether they are next to the prompt, and not in front of the window.
    is_at_tail: bool,
}

impl Earlier {
    /// Returns the text for the system prompt and the text for the prompt's message; one of them is empty.
    fn place(&self) -> (&str, &str) {
        if self.is_at_tail { ("", &self.fragment.text) } else { (&self.fragment.text, "") }
    }

    /// Returns the tokens that count towards the prompt's message.
    fn tail_tokens(&self) -> u64 {
        if self.is_at_tail { self.fragment.tokens } else { 0 }
    }
}

/// The messages of a request, and their sizes.
struct RequestMessages {
    messages: Vec<ChatMessage>,
    /// How many of them are the window.
    stable: usize,
    /// The number of messages and the tokens of each exchange in the window.
    window: VecDeque<(usize, u64)>,
    /// Tokens of the message with the prompt.
    prompt_tokens: u64,
}

impl ActiveTurn<'_> {
    /// Puts the layers together. The window gets the tokens that the others leave.
    pub(super) async fn assemble(
        self,
        mut basis: Basis,
        limits: ModelLimits,
        quoted: Quoted,
        built_for: BuiltFor,
        notices: &mut Notices,
    ) -> Context {
        release_unused(&mut basis, &quoted);
        let window_room = basis.budget.left().saturating_sub(basis.for_digest);
        let first = basis.past.first_kept(basis.budget.left(), basis.for_digest);
        let summary = self.write_summary(&basis.past, first, basis.for_digest, built_for, notices).await;
        let window = &basis.past.exchanges[first..];
        let earlier = self.write_earlier(std::mem::take(&mut basis.earlier.passages), window);
        let (before_window, beside_prompt) = earlier.place();
        let document =
            document::write(&[beside_prompt, &quoted.memory_text, &quoted.hints], &basis.prompt.text);
        let messages = write_messages(window, document);
        let by_others =
            basis.by_others || summary.tokens > 0 || window.iter().any(|exchange| exchange.by_others);
        let system = join(&join(&join(&basis.system.text, &basis.core.text), &summary.text), before_window);
        let report = measure(&basis, &summary, &earlier, &messages);
        let fixed = basis.system.tokens
            + basis.core.tokens
            + summary.tokens
            + basis.tool_tokens
            + (earlier.fragment.tokens - earlier.tail_tokens());
        let quoted_earlier = earlier.tail_tokens();
        let recalled = Recalled {
            passages: quoted.memory.passages.iter().cloned().chain(earlier.passages).collect(),
            documents: quoted.memory.documents.clone(),
        };
        let Budget { room, .. } = basis.budget;
        let mut context = Context {
            request: ChatRequest {
                system,
                messages: messages.messages,
                stable_messages: messages.stable,
                tools: basis.tools,
                memory: quoted.memory,
                longest_reply: None,
            },
            recalled,
            by_others,
            room,
            fixed,
            window: messages.window,
            running: vec![messages.prompt_tokens],
            quoted_earlier,
            window_room,
            model_takes: limits.context,
            how_to_change: basis.budget.how_to_change(),
            report,
        };
        // It fits by now. Should a count have been off, this makes it fit.
        context.shrink();
        context
    }

    /// Returns the section about exchanges that have left the window, which is empty if none have.
    async fn write_summary(
        self,
        past: &Past,
        first: usize,
        room: u64,
        built_for: BuiltFor,
        notices: &mut Notices,
    ) -> Fragment {
        if self.state.runs.is_some() {
            return Fragment::nothing();
        }
        self.move_digest(past, first, built_for, notices)
            .await
            .filter(|digest| digest.through.get() > 0)
            .map_or_else(Fragment::nothing, |digest| Fragment::new(digest::section(&digest, room)))
    }

    /// Returns the section with passages from earlier in the conversation, without those that are in the window: it may have
    /// become larger since it was searched.
    fn write_earlier(self, passages: Vec<Passage>, window: &[PastExchange]) -> Earlier {
        let is_outside = |passage: &Passage| window.iter().all(|exchange| exchange.id != passage.exchange_id);
        let passages: Vec<Passage> = passages.into_iter().filter(is_outside).collect();
        let (text, passages) = earlier::section(passages, &self.agent.zone, u64::MAX);
        let is_at_tail = self.state.context.recall_placement == Placement::Tail;
        Earlier { fragment: Fragment::new(text), passages, is_at_tail }
    }
}

/// Gives back the tokens that were reserved and are not used.
fn release_unused(basis: &mut Basis, quoted: &Quoted) {
    let reserved = basis.budget.room - basis.budget.left();
    let passages = &basis.earlier.passages;
    let used = basis.system.tokens
        + basis.core.tokens
        + basis.tool_tokens
        + basis.prompt.tokens
        + PROMPT_FRAME
        + tokens(&quoted.memory_text)
        + tokens(&quoted.hints)
        + passages.iter().map(|passage| passage.tokens).sum::<u64>()
        + if passages.is_empty() { 0 } else { EARLIER_FRAME };
    basis.budget.give_back(reserved.saturating_sub(used));
}

/// Returns the messages of the window, followed by the document with the prompt.
fn write_messages(window: &[PastExchange], document: String) -> RequestMessages {
    let mut messages: Vec<ChatMessage> =
        window.iter().flat_map(|exchange| exchange.messages.clone()).collect();
    let stable = messages.len();
    let prompt = ChatMessage::User(document);
    let prompt_tokens = request::size(&prompt);
    messages.push(prompt);
    let window = window.iter().map(|exchange| (exchange.messages.len(), exchange.tokens)).collect();
    RequestMessages { messages, stable, window, prompt_tokens }
}

/// Returns the size of each layer.
fn measure(
    basis: &Basis,
    summary: &Fragment,
    earlier: &Earlier,
    messages: &RequestMessages,
) -> ContextReport {
    let sizes = [
        basis.system.tokens,
        basis.core.tokens,
        summary.tokens,
        earlier.fragment.tokens,
        messages.window.iter().map(|(_, tokens)| tokens).sum(),
        basis.tool_tokens,
        messages.prompt_tokens - earlier.tail_tokens().min(messages.prompt_tokens),
    ];
    ContextReport {
        limit: basis.budget.limit,
        reply: basis.budget.reply,
        layers: Layer::ALL.into_iter().zip(sizes).collect(),
    }
}
