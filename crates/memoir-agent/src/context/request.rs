//! A request with the sizes of its parts. It is kept within its limit while tools add to it.

use std::collections::VecDeque;

use memoir_core::{Image, RecalledPassages};
use memoir_models::{ChatMessage, ChatRequest, ModelLimits, ToolResult};

use crate::images;

use super::{
    ContextSettings,
    budget::Budget,
    fragment::{ContextReport, Layer, tokens},
    truncate,
    window::TOKENS_PER_MESSAGE,
};

/// Replaces the text of a tool result that was dropped.
const OMITTED_RESULT: &str = "[omitted to save space; run the tool again if it is still needed]";

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) request: ChatRequest,
    pub(crate) recalled: RecalledPassages,
    /// Whether the text before the prompt comes in part from the project, imported conversations, files or tools, or
    /// from a summary of these.
    pub(crate) has_untrusted_text: bool,
    pub(crate) room: u64,
    /// Size of the system prompt and the tools.
    pub(crate) fixed: u64,
    /// Number of messages and size of each exchange in the window.
    pub(crate) window: VecDeque<(usize, u64)>,
    /// Size of each message after the window.
    pub(crate) tail_tokens: Vec<u64>,
    /// Size of the earlier passages in the prompt's message.
    pub(crate) earlier_tokens: u64,
    pub(crate) window_room: u64,
    /// Context limit of the model, for the request and the answer together.
    pub(crate) model_context: Option<u64>,
    /// Whether the model may be able to see images.
    pub(crate) takes_images: bool,
    pub(crate) advice: &'static str,
    pub(crate) report: ContextReport,
}

impl Context {
    pub(crate) fn total(&self) -> u64 {
        self.fixed + self.window_tokens() + self.tail_tokens.iter().sum::<u64>()
    }

    fn window_tokens(&self) -> u64 {
        self.window.iter().map(|(_, tokens)| tokens).sum()
    }

    /// Adds a reply with tool calls, and their results. Returns a notice for each item that was truncated or dropped.
    pub(crate) fn add_round(&mut self, reply: ChatMessage, mut results: Vec<ToolResult>) -> Vec<String> {
        let max_result_tokens = self.room / 4 / (results.len() as u64).max(1);
        let mut notices = Vec::new();
        for result in &mut results {
            if !self.takes_images {
                result.images.clear();
            }
            let text = truncate::keep_start(&result.text, max_result_tokens);
            if text != result.text {
                notices.push(format!(
                    "The output of `{}` is too long: only {} of its {} bytes were sent. {}",
                    result.tool_name,
                    text.len(),
                    result.text.len(),
                    self.advice
                ));
                result.text = text;
            }
        }
        self.tail_tokens.extend([size(&reply), results_size(&results)]);
        self.request.messages.extend([reply, ChatMessage::ToolResults(results)]);
        self.limit_result_images();
        notices.extend(self.shrink());
        notices
    }

    /// Removes the images of earlier tool results, and finally of the last ones, if there are too many.
    fn limit_result_images(&mut self) {
        let mut room = images::MAX_RESULT_BYTES;
        let first = self.request.stable_messages;
        for index in (first..self.request.messages.len()).rev() {
            let ChatMessage::ToolResults(results) = &mut self.request.messages[index] else { continue };
            for result in results.iter_mut() {
                let kept = images::keep_fitting(&result.images, u64::MAX, room).len();
                result.images.truncate(kept);
                room -= result.images.iter().map(|image| image.data().len()).sum::<usize>();
            }
            self.tail_tokens[index - first] = results_size(results);
        }
    }

    /// Makes the request fit: drops the oldest exchanges, then earlier tool results, and finally truncates the last
    /// results. Returns a notice if it changed anything.
    pub(crate) fn shrink(&mut self) -> Option<String> {
        let before = self.total();
        while self.total() > self.room && !self.window.is_empty() {
            self.drop_exchanges(self.window.len().div_ceil(4));
        }
        let first = self.request.stable_messages;
        let result_indexes: Vec<usize> = (0..self.tail_tokens.len())
            .filter(|index| {
                matches!(self.request.messages.get(first + index), Some(ChatMessage::ToolResults(_)))
            })
            .collect();
        for index in &result_indexes {
            let over = self.total().saturating_sub(self.room);
            if over == 0 {
                break;
            }
            if let Some(ChatMessage::ToolResults(results)) = self.request.messages.get_mut(first + index) {
                let is_last = result_indexes.last() == Some(index);
                let count = (results.len() as u64).max(1);
                let allowed = self.tail_tokens[*index].saturating_sub(over);
                results.iter_mut().for_each(|result| result.images.clear());
                self.tail_tokens[*index] = results_size(results);
                if is_last && self.tail_tokens[*index] <= allowed {
                    break;
                }
                let limit = allowed / count;
                for result in results.iter_mut() {
                    result.text = if is_last {
                        truncate::keep_start(&result.text, limit.saturating_sub(TOKENS_PER_MESSAGE + 2))
                    } else {
                        OMITTED_RESULT.to_owned()
                    };
                }
                self.tail_tokens[*index] = results_size(results);
            }
        }
        self.update_sizes();
        (self.total() < before).then(|| {
            format!(
                "Older messages were omitted from this request to make room for tool output. {}",
                self.advice
            )
        })
    }

    /// Removes all images. Returns whether there were any.
    pub(crate) fn drop_images(&mut self) -> bool {
        self.takes_images = false;
        let has_images = !self.request.take_images().is_empty();
        let tail = &self.request.messages[self.request.stable_messages..];
        self.tail_tokens = tail.iter().map(size).collect();
        has_images
    }

    /// Returns whether tools have been called since the prompt.
    pub(crate) fn has_tool_rounds(&self) -> bool {
        self.tail_tokens.len() > 1
    }

    /// Makes the request fit a model whose context window is smaller than expected.
    /// Returns a notice if that changed anything.
    pub(crate) fn lower_limit(&mut self, settings: &ContextSettings, limit: Option<u64>) -> Option<String> {
        let limits = ModelLimits { context: limit, ..ModelLimits::default() };
        self.model_context = limit;
        self.room = self.room.min(Budget::new(settings, &limits).room);
        self.shrink()
    }

    fn drop_exchanges(&mut self, count: usize) {
        let messages: usize = self.window.drain(..count).map(|(messages, _)| messages).sum();
        self.request.messages.drain(..messages);
        self.request.stable_messages -= messages;
    }

    fn update_sizes(&mut self) {
        let input = self.total();
        self.request.max_output_tokens =
            self.model_context.map(|limit| limit.saturating_sub(input + input / 8).max(1));
        let window = self.window_tokens();
        let document = self.tail_tokens.iter().sum::<u64>() - self.earlier_tokens;
        for (layer, tokens) in &mut self.report.layers {
            match layer {
                Layer::Window => *tokens = window,
                Layer::Document => *tokens = document,
                _ => {}
            }
        }
    }
}

pub(crate) fn size(message: &ChatMessage) -> u64 {
    match message {
        ChatMessage::User { text, images } => tokens(text) + image_tokens(images) + TOKENS_PER_MESSAGE,
        ChatMessage::Assistant { replay: Some(replay), .. } => tokens(&replay.to_text()) + TOKENS_PER_MESSAGE,
        ChatMessage::Assistant { text, tool_calls, replay: None } => {
            let calls: u64 =
                tool_calls.iter().map(|call| tokens(&call.arguments.to_string()) + TOKENS_PER_MESSAGE).sum();
            tokens(text) + calls + TOKENS_PER_MESSAGE
        }
        ChatMessage::ToolResults(results) => results_size(results),
    }
}

fn results_size(results: &[ToolResult]) -> u64 {
    let size = |result: &ToolResult| tokens(&result.text) + image_tokens(&result.images) + TOKENS_PER_MESSAGE;
    results.iter().map(size).sum()
}

fn image_tokens(images: &[Image]) -> u64 {
    images.iter().map(Image::tokens).sum()
}

#[cfg(test)]
mod tests {
    use memoir_core::ToolCall;
    use serde_json::json;

    use super::*;

    fn context(window: usize) -> Context {
        let mut messages = Vec::new();
        for number in 0..window {
            messages.push(ChatMessage::user(format!("q{number}")));
            messages.push(ChatMessage::Assistant { text: "a".into(), tool_calls: Vec::new(), replay: None });
        }
        let stable_messages = messages.len();
        messages.push(ChatMessage::user("now"));
        Context {
            request: ChatRequest { messages, stable_messages, ..ChatRequest::default() },
            recalled: RecalledPassages::default(),
            has_untrusted_text: false,
            room: 2000,
            fixed: 100,
            window: (0..window).map(|_| (2, 100)).collect(),
            tail_tokens: vec![20],
            earlier_tokens: 0,
            window_room: 1500,
            model_context: Some(4000),
            takes_images: true,
            advice: "Ask for less.",
            report: ContextReport {
                max_tokens: 2500,
                answer_tokens: 500,
                layers: vec![(Layer::Window, 0), (Layer::Document, 0)],
            },
        }
    }

    fn tool_call(id: &str) -> ChatMessage {
        let call = ToolCall { id: id.into(), name: "t".into(), arguments: json!({"path": "x"}) };
        ChatMessage::Assistant { text: String::new(), tool_calls: vec![call], replay: None }
    }

    fn tool_results(id: &str, text: String) -> Vec<ToolResult> {
        vec![ToolResult { call_id: id.into(), tool_name: "t".into(), text, images: Vec::new() }]
    }

    #[test]
    fn a_long_result_is_truncated_with_a_notice() {
        let mut context = context(4);
        let notices = context.add_round(tool_call("a"), tool_results("a", "0123456789\n".repeat(500_000)));
        assert!(
            notices[0].starts_with("The output of `t` is too long: only ")
                && notices[0].ends_with(" Ask for less.")
        );
        assert!(context.total() <= context.room, "{}", context.total());
        let Some(ChatMessage::ToolResults(results)) = context.request.messages.last() else { unreachable!() };
        assert!(results[0].text.ends_with("bytes shown]"), "{}", results[0].text);
    }

    #[test]
    fn many_rounds_stay_within_the_limit_and_in_order() {
        let mut context = context(12);
        for round in 0..25 {
            let id = format!("c{round}");
            context.add_round(tool_call(&id), tool_results(&id, "word ".repeat(900)));
            assert!(context.total() <= context.room, "round {round}: {}", context.total());
            assert_eq!(context.request.messages.len(), context.request.stable_messages + 1 + 2 * (round + 1));
            // The recorded sizes match the messages.
            let expected: u64 =
                context.request.messages[context.request.stable_messages..].iter().map(size).sum();
            assert_eq!(
                context.tail_tokens.iter().sum::<u64>() - 20 + size(&ChatMessage::user("now")),
                expected
            );
        }
        assert!(context.window.is_empty());
        // The last result is still there; the first one was dropped.
        let texts: Vec<&str> = context
            .request
            .messages
            .iter()
            .filter_map(|message| match message {
                ChatMessage::ToolResults(results) => Some(results[0].text.as_str()),
                _ => None,
            })
            .collect();
        assert!(texts[0] == OMITTED_RESULT && texts[24].starts_with("word"), "{texts:?}");
        assert!(context.request.max_output_tokens.is_some_and(|longest| longest + context.total() <= 4000));
    }

    #[test]
    fn the_last_results_are_truncated_rather_than_dropped() {
        let mut context = context(0);
        context.tail_tokens[0] = 1400;
        let notices = context.add_round(tool_call("a"), tool_results("a", "word ".repeat(900)));
        assert!(context.total() <= context.room, "{}", context.total());
        let Some(ChatMessage::ToolResults(results)) = context.request.messages.last() else { unreachable!() };
        assert!(results[0].text.starts_with("word word"), "{}", results[0].text);
        assert!(
            notices.iter().any(|notice| notice.starts_with("Older messages were omitted")),
            "{notices:?}"
        );
    }

    #[test]
    fn a_lower_limit_drops_exchanges_and_leaves_room_for_the_answer() {
        let mut context = context(12);
        context.add_round(tool_call("a"), tool_results("a", "word ".repeat(50)));
        assert!(context.has_tool_rounds() && context.total() > 800);
        context.lower_limit(&ContextSettings::default(), Some(1000));
        assert!(context.total() <= 700, "{}", context.total());
        assert!(matches!(&context.request.messages[0], ChatMessage::User { text, .. } if text != "q0"));
        assert!(context.request.max_output_tokens.is_some_and(|longest| longest + context.total() <= 1000));
    }
}
