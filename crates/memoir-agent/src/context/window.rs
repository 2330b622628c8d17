//! The window: the last exchanges of the conversation, always whole ones.
//!
//! It begins after the exchanges that the digest covers, and grows until it is full. Then at least a quarter of it is
//! dropped in one step, so that most turns can reuse the provider's cache of the window.

use std::collections::HashSet;

use memoir_core::{ExchangeId, Image, Message, MessageBody, Visibility, escape_fence, is_invisible};
use memoir_models::{ChatMessage, ToolResult};

use super::truncate;

/// Tokens that separate one message from the next.
pub(crate) const TOKENS_PER_MESSAGE: u64 = 8;

const FENCE_TOKENS: u64 = 12;

/// An exchange in the form in which later requests contain it.
#[derive(Debug, Clone)]
pub(crate) struct PastExchange {
    pub(crate) id: ExchangeId,
    pub(crate) messages: Vec<ChatMessage>,
    /// Messages that the user wrote.
    pub(crate) user_texts: Vec<String>,
    /// Whether it contains text from other people (in imported conversations), attached files or tools.
    pub(crate) has_untrusted_text: bool,
    pub(crate) tokens: u64,
}

impl PastExchange {
    /// Adds the images of the prompt, whose text describes them.
    pub(crate) fn add_images(&mut self, new: &[Image]) {
        if let Some(ChatMessage::User { images, .. }) = self.messages.first_mut() {
            images.extend_from_slice(new);
            self.tokens += new.iter().map(Image::tokens).sum::<u64>();
        }
    }
}

/// Groups messages into exchanges, oldest first. Messages of more than `max_message_tokens` are truncated.
pub(crate) fn group_exchanges(messages: Vec<Message>, max_message_tokens: u64) -> Vec<PastExchange> {
    let mut exchanges: Vec<(ExchangeId, Vec<Message>)> = Vec::new();
    for message in messages {
        match exchanges.last_mut() {
            Some((id, messages)) if *id == message.exchange_id => messages.push(message),
            _ => exchanges.push((message.exchange_id, vec![message])),
        }
    }
    exchanges
        .into_iter()
        .filter_map(|(id, messages)| build_exchange(id, messages, max_message_tokens))
        .collect()
}

fn build_exchange(
    id: ExchangeId,
    mut messages: Vec<Message>,
    max_message_tokens: u64,
) -> Option<PastExchange> {
    let mut tokens = 0;
    for message in &mut messages {
        if message.tokens > max_message_tokens {
            let text = match &mut message.body {
                MessageBody::User { text }
                | MessageBody::Assistant { text, .. }
                | MessageBody::Tool { text, .. } => text,
            };
            *text = truncate::keep_both_ends(text, max_message_tokens);
            message.tokens = max_message_tokens;
        }
        tokens +=
            message.tokens + TOKENS_PER_MESSAGE + if message.author.is_some() { FENCE_TOKENS } else { 0 };
        if let MessageBody::Assistant { tool_calls, .. } = &message.body {
            tokens += tool_calls
                .iter()
                .map(|call| super::fragment::tokens(&call.arguments.to_string()))
                .sum::<u64>();
        }
    }
    let has_untrusted_text = messages.iter().any(|message| message.author.is_some() || message.by_others);
    let user_texts = messages
        .iter()
        .filter(|message| message.author.is_none() && message.visibility == Visibility::Shown)
        .filter_map(|message| match &message.body {
            MessageBody::User { text } => Some(text.clone()),
            _ => None,
        })
        .collect();
    let messages = alternate_roles(rebuild(messages));
    // `alternate_roles` may have added a placeholder, so count one more message.
    let tokens = tokens + TOKENS_PER_MESSAGE;
    (!messages.is_empty()).then_some(PastExchange { id, messages, user_texts, has_untrusted_text, tokens })
}

/// Converts stored messages into messages of a request, without the hidden ones. Drops tool calls without a result
/// and results without a call, because providers reject them.
fn rebuild(messages: Vec<Message>) -> Vec<ChatMessage> {
    let shown: Vec<Message> =
        messages.into_iter().filter(|message| message.visibility == Visibility::Shown).collect();
    let answered_calls: HashSet<String> = shown
        .iter()
        .filter_map(|message| match &message.body {
            MessageBody::Tool { call_id, .. } => Some(call_id.clone()),
            _ => None,
        })
        .collect();

    let mut rebuilt: Vec<ChatMessage> = Vec::with_capacity(shown.len());
    // Calls of the last assistant message whose result has not followed yet.
    let mut open_calls = HashSet::new();
    for Message { body, author, .. } in shown {
        match body {
            MessageBody::User { text } => {
                open_calls.clear();
                rebuilt.push(ChatMessage::user(match author {
                    Some(author) => quote_author(&author, &text),
                    None => text,
                }));
            }
            MessageBody::Assistant { text, mut tool_calls } => {
                tool_calls.retain(|call| answered_calls.contains(&call.id));
                open_calls = tool_calls.iter().map(|call| call.id.clone()).collect();
                if !text.trim().is_empty() || !tool_calls.is_empty() {
                    rebuilt.push(ChatMessage::Assistant { text, tool_calls, replay: None });
                }
            }
            MessageBody::Tool { call_id, tool_name, text } => {
                if open_calls.remove(&call_id) {
                    let result = ToolResult { call_id, tool_name, text, images: Vec::new() };
                    match rebuilt.last_mut() {
                        Some(ChatMessage::ToolResults(results)) => results.push(result),
                        _ => rebuilt.push(ChatMessage::ToolResults(vec![result])),
                    }
                }
            }
        }
    }
    rebuilt
}

/// Quotes a message from another person, with its author, so that the model does not take it for a message from the
/// user.
fn quote_author(author: &str, text: &str) -> String {
    let text = escape_fence(&format!("{}: {text}", author.replace(is_invisible, " ")), "memory");
    format!("<memory>\n{text}\n</memory>")
}

/// Makes user and assistant messages alternate, from the user to the assistant, as providers require. Imported
/// conversations may not.
fn alternate_roles(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let mut turns: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    for message in messages {
        match (turns.last_mut(), message) {
            (Some(ChatMessage::User { text: before, .. }), ChatMessage::User { text, .. }) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            (
                Some(ChatMessage::Assistant { text: before, tool_calls: calls_before, .. }),
                ChatMessage::Assistant { text, tool_calls, .. },
            ) if calls_before.is_empty() => {
                if !before.is_empty() && !text.is_empty() {
                    before.push_str("\n\n");
                }
                before.push_str(&text);
                *calls_before = tool_calls;
            }
            (None, message @ (ChatMessage::Assistant { .. } | ChatMessage::ToolResults(_))) => {
                turns.extend([ChatMessage::user("(nothing)"), message]);
            }
            (_, message) => turns.push(message),
        }
    }
    if matches!(turns.last(), Some(ChatMessage::User { .. } | ChatMessage::ToolResults(_))) {
        turns.push(ChatMessage::Assistant {
            text: "(no answer)".into(),
            tool_calls: Vec::new(),
            replay: None,
        });
    }
    turns
}

/// Returns the index of the first exchange that stays in a window of `room` tokens. If not all fit, at least a
/// quarter of the room becomes free, unless it is enough to drop the exchanges for which a summary was prepared.
pub(crate) fn window_start(sizes: &[u64], room: u64, prepared: Option<usize>) -> usize {
    let mut totals: Vec<u64> = sizes
        .iter()
        .rev()
        .scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        })
        .collect();
    totals.reverse();
    totals.push(0);
    if totals[0] <= room {
        return 0;
    }
    if let Some(first) = prepared.filter(|first| totals.get(*first).is_some_and(|total| *total <= room)) {
        return first;
    }
    let first_within = |limit: u64| totals.iter().position(|total| *total <= limit).unwrap_or(sizes.len());
    let first = first_within(room - room / 4);
    // Keep at least the last exchange if it fits at all.
    if first == sizes.len() { first_within(room) } else { first }
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, MessageId, Provenance, Timestamp, ToolCall};
    use serde_json::json;

    use super::*;

    fn message(exchange: i64, body: MessageBody, visibility: Visibility) -> Message {
        Message {
            id: MessageId::new(1),
            exchange_id: ExchangeId::new(exchange),
            conversation_id: ConversationId::new(1),
            author: None,
            body,
            visibility,
            provenance: Provenance::Original,
            by_others: false,
            tokens: 1,
            created: Timestamp::from_millis(0),
        }
    }

    fn shown(body: MessageBody) -> Message {
        message(1, body, Visibility::Shown)
    }

    fn user(text: &str) -> MessageBody {
        MessageBody::User { text: text.into() }
    }

    fn assistant(text: &str, calls: &[&str]) -> MessageBody {
        let call = |id: &&str| ToolCall { id: (*id).into(), name: "file_read".into(), arguments: json!({}) };
        MessageBody::Assistant { text: text.into(), tool_calls: calls.iter().map(call).collect() }
    }

    fn result(id: &str) -> MessageBody {
        MessageBody::Tool { call_id: id.into(), tool_name: "file_read".into(), text: format!("output {id}") }
    }

    /// Formats messages as `user: text`, `assistant: text [calls]` and `results: ids`.
    fn outline(messages: Vec<Message>) -> Vec<String> {
        let ids = |ids: Vec<&String>| ids.into_iter().cloned().collect::<Vec<_>>().join(" ");
        group_exchanges(messages, 1000)
            .iter()
            .flat_map(|exchange| &exchange.messages)
            .map(|message| match message {
                ChatMessage::User { text, .. } => format!("user: {text}"),
                ChatMessage::Assistant { text, tool_calls, .. } => {
                    format!("assistant: {text} [{}]", ids(tool_calls.iter().map(|call| &call.id).collect()))
                }
                ChatMessage::ToolResults(results) => {
                    format!("results: {}", ids(results.iter().map(|result| &result.call_id).collect()))
                }
            })
            .collect()
    }

    #[test]
    fn redacted_messages_are_not_sent_again() {
        let sent = outline(vec![
            shown(user("read it")),
            message(1, assistant("", &["a"]), Visibility::Hidden),
            message(1, result("a"), Visibility::Hidden),
            shown(assistant("it says hello", &[])),
        ]);
        assert_eq!(sent, ["user: read it", "assistant: it says hello []"]);
    }

    #[test]
    fn calls_and_results_stay_together() {
        let sent = outline(vec![
            shown(user("read both")),
            shown(assistant("", &["a", "b"])),
            shown(result("a")),
            shown(result("b")),
            shown(assistant("done", &[])),
        ]);
        // All results of one reply are in one message.
        assert_eq!(sent, ["user: read both", "assistant:  [a b]", "results: a b", "assistant: done []"]);
    }

    #[test]
    fn unmatched_calls_and_results_are_dropped() {
        let sent = outline(vec![
            shown(user("go")),
            shown(assistant("looking", &["lost"])),
            shown(result("orphan")),
            shown(assistant("", &["also lost"])),
            shown(assistant("done", &[])),
            // A call in another exchange may have the same id.
            message(2, user("more"), Visibility::Shown),
            message(2, assistant("", &["lost"]), Visibility::Shown),
            message(2, result("lost"), Visibility::Shown),
        ]);
        assert_eq!(
            sent,
            [
                "user: go",
                "assistant: looking\n\ndone []",
                "user: more",
                "assistant:  [lost]",
                "results: lost",
                "assistant: (no answer) []",
            ]
        );
    }

    #[test]
    fn roles_alternate_whatever_was_stored() {
        let sent = outline(vec![
            shown(assistant("Welcome!", &[])),
            message(2, user("one"), Visibility::Shown),
            message(2, user("two"), Visibility::Shown),
            message(3, user("three"), Visibility::Shown),
            message(3, assistant("", &[]), Visibility::Shown),
            message(4, assistant("", &["lost"]), Visibility::Shown),
        ]);
        assert_eq!(
            sent,
            [
                "user: (nothing)",
                "assistant: Welcome! []",
                "user: one\n\ntwo",
                "assistant: (no answer) []",
                "user: three",
                "assistant: (no answer) []",
            ]
        );
    }

    #[test]
    fn a_message_that_is_too_long_is_truncated() {
        let mut long = shown(user(&"word ".repeat(3000)));
        long.tokens = 3000;
        let sent = group_exchanges(vec![long, shown(assistant("ok", &[]))], 100);
        assert!(sent[0].tokens < 150);
        assert!(
            matches!(&sent[0].messages[0], ChatMessage::User { text, .. } if text.contains("bytes omitted here"))
        );
    }

    #[test]
    fn exchanges_leave_the_window_in_blocks() {
        let sizes = [10; 20];
        assert_eq!(window_start(&sizes[..10], 100, None), 0);
        // One exchange too many: enough leave to free a quarter of the room.
        assert_eq!(window_start(&sizes[..11], 100, None), 4);
        assert_eq!(window_start(&sizes[..11], 100, Some(3)), 3, "a summary was prepared for three");
        assert_eq!(window_start(&sizes, 100, Some(3)), 13, "three are not enough here");
        assert_eq!(window_start(&[10, 90], 100, None), 0);
        assert_eq!(window_start(&[20, 90], 100, None), 1, "the last one stays if it fits");
        assert_eq!(window_start(&[20, 190], 100, None), 2);
        assert_eq!(window_start(&[], 0, None), 0);
    }
}
