//! A request with the size of every part, kept within its room while tools add to it.

use std::collections::VecDeque;

use memoir_core::Recalled;
use memoir_models::{ChatMessage, ChatRequest, ToolResult};

use super::{
    cut,
    fragment::{ContextReport, Layer, tokens},
    window::PER_MESSAGE,
};

/// What a result says that had to give way.
const LEFT_OUT: &str = "[left out to make room; run the tool again if it is still needed]";

/// What is sent, part by part.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) request: ChatRequest,
    pub(crate) recalled: Recalled,
    /// Whether something of it that came before the prompt was written by others: a project, people in talk that was brought in, files,
    /// tools, or a summary in which that may be.
    pub(crate) by_others: bool,
    /// What the request may take.
    pub(crate) room: u64,
    /// What system prompt and tools take.
    pub(crate) fixed: u64,
    /// Of each exchange in the window, how many messages it is and how large.
    pub(crate) window: VecDeque<(usize, u64)>,
    /// Of each message after the window.
    pub(crate) running: Vec<u64>,
    /// What of that is quoted from earlier in the conversation.
    pub(crate) quoted_earlier: u64,
    /// What the window may take.
    pub(crate) window_room: u64,
    /// What the model takes, question and answer together.
    pub(crate) model_takes: Option<u64>,
    /// What to do for more room.
    pub(crate) how_to_change: &'static str,
    pub(crate) report: ContextReport,
}

impl Context {
    /// What it takes in all.
    pub(crate) fn total(&self) -> u64 {
        self.fixed + self.window_tokens() + self.running.iter().sum::<u64>()
    }

    fn window_tokens(&self) -> u64 {
        self.window.iter().map(|(_, tokens)| tokens).sum()
    }

    /// Adds what a model asked for and what came of it. Says what had to be cut, if anything had.
    pub(crate) fn add_round(&mut self, asked: ChatMessage, mut results: Vec<ToolResult>) -> Vec<String> {
        let longest = self.room / 4 / (results.len() as u64).max(1);
        let mut notices = Vec::new();
        for result in &mut results {
            let sent = cut::from_start(&result.text, longest);
            if sent != result.text {
                notices.push(format!(
                    "What {} gave is too long: {} of its {} bytes were sent; {}.",
                    result.tool_name,
                    sent.len(),
                    result.text.len(),
                    self.how_to_change
                ));
                result.text = sent;
            }
        }
        self.running.extend([size(&asked), results_size(&results)]);
        self.request.messages.extend([asked, ChatMessage::ToolResults(results)]);
        notices.extend(self.shrink());
        notices
    }

    /// Makes it fit: old exchanges leave the window first, then what tools gave first, and what they gave last is cut. Says
    /// what it did.
    pub(crate) fn shrink(&mut self) -> Option<String> {
        let before = self.total();
        while self.total() > self.room && !self.window.is_empty() {
            self.drop_exchanges(self.window.len().div_ceil(4));
        }
        let first = self.request.stable_messages;
        let results: Vec<usize> = (0..self.running.len())
            .filter(|index| {
                matches!(self.request.messages.get(first + index), Some(ChatMessage::ToolResults(_)))
            })
            .collect();
        for index in &results {
            let over = self.total().saturating_sub(self.room);
            if over == 0 {
                break;
            }
            if let Some(ChatMessage::ToolResults(given)) = self.request.messages.get_mut(first + index) {
                let is_last = results.last() == Some(index);
                let left = self.running[*index].saturating_sub(over) / (given.len() as u64).max(1);
                for result in given.iter_mut() {
                    result.text = if is_last {
                        cut::from_start(&result.text, left.saturating_sub(PER_MESSAGE + 2))
                    } else {
                        LEFT_OUT.to_owned()
                    };
                }
                self.running[*index] = results_size(given);
            }
        }
        self.note_sizes();
        (self.total() < before).then(|| {
            format!(
                "To make room for what tools gave, older talk was left out of this request; {}.",
                self.how_to_change
            )
        })
    }

    /// Leaves out the older half of the window; says whether there was any.
    pub(crate) fn drop_older_half(&mut self) -> bool {
        let count = self.window.len().div_ceil(2);
        self.drop_exchanges(count);
        self.note_sizes();
        count > 0
    }

    fn drop_exchanges(&mut self, count: usize) {
        let messages: usize = self.window.drain(..count).map(|(messages, _)| messages).sum();
        self.request.messages.drain(..messages);
        self.request.stable_messages -= messages;
    }

    fn note_sizes(&mut self) {
        let input = self.total();
        self.request.longest_reply =
            self.model_takes.map(|takes| takes.saturating_sub(input + input / 8).max(1));
        let window = self.window_tokens();
        let running = self.running.iter().sum::<u64>() - self.quoted_earlier;
        for (layer, tokens) in &mut self.report.layers {
            match layer {
                Layer::Window => *tokens = window,
                Layer::Document => *tokens = running,
                _ => {}
            }
        }
    }
}

/// What a message takes.
pub(crate) fn size(message: &ChatMessage) -> u64 {
    match message {
        ChatMessage::User(text) => tokens(text) + PER_MESSAGE,
        ChatMessage::Assistant { replay: Some(replay), .. } => tokens(&replay.to_text()) + PER_MESSAGE,
        ChatMessage::Assistant { text, tool_calls, replay: None } => {
            let calls: u64 =
                tool_calls.iter().map(|call| tokens(&call.arguments.to_string()) + PER_MESSAGE).sum();
            tokens(text) + calls + PER_MESSAGE
        }
        ChatMessage::ToolResults(results) => results_size(results),
    }
}

fn results_size(results: &[ToolResult]) -> u64 {
    results.iter().map(|result| tokens(&result.text) + PER_MESSAGE).sum()
}

#[cfg(test)]
mod tests {
    use memoir_core::ToolCall;
    use serde_json::json;

    use super::*;

    fn context(window: usize) -> Context {
        let mut messages = Vec::new();
        for number in 0..window {
            messages.push(ChatMessage::User(format!("q{number}")));
            messages.push(ChatMessage::Assistant { text: "a".into(), tool_calls: Vec::new(), replay: None });
        }
        let stable_messages = messages.len();
        messages.push(ChatMessage::User("now".into()));
        Context {
            request: ChatRequest { messages, stable_messages, ..ChatRequest::default() },
            recalled: Recalled::default(),
            by_others: false,
            room: 2000,
            fixed: 100,
            window: (0..window).map(|_| (2, 100)).collect(),
            running: vec![20],
            quoted_earlier: 0,
            window_room: 1500,
            model_takes: Some(4000),
            how_to_change: "ask for less",
            report: ContextReport {
                limit: 2500,
                reply: 500,
                layers: vec![(Layer::Window, 0), (Layer::Document, 0)],
            },
        }
    }

    fn asked(id: &str) -> ChatMessage {
        let call = ToolCall { id: id.into(), name: "t".into(), arguments: json!({"path": "x"}) };
        ChatMessage::Assistant { text: String::new(), tool_calls: vec![call], replay: None }
    }

    fn gave(id: &str, text: String) -> Vec<ToolResult> {
        vec![ToolResult { call_id: id.into(), tool_name: "t".into(), text }]
    }

    #[test]
    fn a_result_of_five_megabytes_is_cut_and_said() {
        let mut context = context(4);
        let notices = context.add_round(asked("a"), gave("a", "0123456789\n".repeat(500_000)));
        assert!(
            notices[0].starts_with("What t gave is too long: ") && notices[0].ends_with("; ask for less.")
        );
        assert!(context.total() <= context.room, "{}", context.total());
        let Some(ChatMessage::ToolResults(results)) = context.request.messages.last() else { unreachable!() };
        assert!(results[0].text.ends_with("bytes shown]"), "{}", results[0].text);
    }

    #[test]
    fn round_after_round_stays_within_the_room_and_in_order() {
        let mut context = context(12);
        for round in 0..25 {
            context.add_round(asked(&format!("c{round}")), gave(&format!("c{round}"), "word ".repeat(900)));
            assert!(context.total() <= context.room, "round {round}: {}", context.total());
            assert_eq!(context.request.messages.len(), context.request.stable_messages + 1 + 2 * (round + 1));
            // The counts are those of what is there.
            let counted: u64 =
                context.request.messages[context.request.stable_messages..].iter().map(size).sum();
            assert_eq!(
                context.running.iter().sum::<u64>() - 20 + size(&ChatMessage::User("now".into())),
                counted
            );
        }
        assert!(context.window.is_empty());
        // What came last is there, what came first gave way.
        let texts: Vec<&str> = context
            .request
            .messages
            .iter()
            .filter_map(|message| match message {
                ChatMessage::ToolResults(results) => Some(results[0].text.as_str()),
                _ => None,
            })
            .collect();
        assert!(texts[0] == LEFT_OUT && texts[24].starts_with("word"), "{texts:?}");
        assert!(context.request.longest_reply.is_some_and(|longest| longest + context.total() <= 4000));
    }

    #[test]
    fn what_was_just_asked_for_is_cut_rather_than_taken_away() {
        let mut context = context(0);
        context.running[0] = 1400;
        let notices = context.add_round(asked("a"), gave("a", "word ".repeat(900)));
        assert!(context.total() <= context.room, "{}", context.total());
        let Some(ChatMessage::ToolResults(results)) = context.request.messages.last() else { unreachable!() };
        assert!(results[0].text.starts_with("word word"), "{}", results[0].text);
        assert!(notices.iter().any(|notice| notice.starts_with("To make room")), "{notices:?}");
    }

    #[test]
    fn the_older_half_is_dropped_by_whole_exchanges() {
        let mut context = context(3);
        assert!(context.drop_older_half());
        assert_eq!((context.request.stable_messages, context.window.len()), (2, 1));
        assert!(matches!(&context.request.messages[0], ChatMessage::User(text) if text == "q2"));
        assert!(context.drop_older_half());
        assert_eq!(context.request.messages.len(), 1);
        assert!(!context.drop_older_half(), "there is nothing left to drop");
    }
}
