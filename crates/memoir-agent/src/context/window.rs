//! The window: the last exchanges of the conversation, whole ones only.
//!
//! It begins after what the digest tells of, and grows until it is full. Then the oldest exchanges leave it together, a
//! quarter of it at least, so that the provider's cache of what is left is not lost with every turn.

use std::collections::HashSet;

use memoir_core::{ExchangeId, Message, MessageBody, Visibility, without_fence};
use memoir_models::{ChatMessage, ToolResult};

use super::cut;

/// What setting a message apart takes.
pub(crate) const PER_MESSAGE: u64 = 8;

/// What a fence around a message takes.
const FENCE: u64 = 12;

/// An exchange as it is sent again.
#[derive(Debug, Clone)]
pub(crate) struct PastExchange {
    pub(crate) id: ExchangeId,
    pub(crate) messages: Vec<ChatMessage>,
    /// What the user himself said in it.
    pub(crate) asked: Vec<String>,
    /// Whether others had a part in it: people in talk that was brought in, files that went along, tools.
    pub(crate) by_others: bool,
    pub(crate) tokens: u64,
}

/// The exchanges of some messages, oldest first. A message of more than `longest` tokens is cut.
pub(crate) fn exchanges(messages: Vec<Message>, longest: u64) -> Vec<PastExchange> {
    let mut exchanges: Vec<(ExchangeId, Vec<Message>)> = Vec::new();
    for message in messages {
        match exchanges.last_mut() {
            Some((id, messages)) if *id == message.exchange_id => messages.push(message),
            _ => exchanges.push((message.exchange_id, vec![message])),
        }
    }
    exchanges.into_iter().filter_map(|(id, messages)| exchange(id, messages, longest)).collect()
}

fn exchange(id: ExchangeId, mut messages: Vec<Message>, longest: u64) -> Option<PastExchange> {
    let mut tokens = 0;
    for message in &mut messages {
        if message.tokens > longest {
            let text = match &mut message.body {
                MessageBody::User { text }
                | MessageBody::Assistant { text, .. }
                | MessageBody::Tool { text, .. } => text,
            };
            *text = cut::from_both_ends(text, longest);
            message.tokens = longest;
        }
        tokens += message.tokens + PER_MESSAGE + if message.author.is_some() { FENCE } else { 0 };
        if let MessageBody::Assistant { tool_calls, .. } = &message.body {
            tokens += tool_calls
                .iter()
                .map(|call| super::fragment::tokens(&call.arguments.to_string()))
                .sum::<u64>();
        }
    }
    let by_others = messages.iter().any(|message| message.author.is_some() || message.by_others);
    let asked = messages
        .iter()
        .filter(|message| message.author.is_none() && message.visibility == Visibility::Shown)
        .filter_map(|message| match &message.body {
            MessageBody::User { text } => Some(text.clone()),
            _ => None,
        })
        .collect();
    let messages = in_turns(rebuild(messages));
    // Placeholders are short.
    let tokens = tokens + PER_MESSAGE;
    (!messages.is_empty()).then_some(PastExchange { id, messages, asked, by_others, tokens })
}

/// The messages as they are sent again. Redacted ones are left out. Tool calls and their results stay together: a
/// provider refuses a call without its result, or a result without its call, so that a half of a pair is left out too.
fn rebuild(messages: Vec<Message>) -> Vec<ChatMessage> {
    let shown: Vec<Message> =
        messages.into_iter().filter(|message| message.visibility == Visibility::Shown).collect();
    let answered: HashSet<String> = shown
        .iter()
        .filter_map(|message| match &message.body {
            MessageBody::Tool { call_id, .. } => Some(call_id.clone()),
            _ => None,
        })
        .collect();

    let mut rebuilt: Vec<ChatMessage> = Vec::with_capacity(shown.len());
    // Calls of the last assistant message that still wait for their result.
    let mut open = HashSet::new();
    for Message { body, author, .. } in shown {
        match body {
            MessageBody::User { text } => {
                open.clear();
                rebuilt.push(ChatMessage::User(match author {
                    Some(author) => said_by(&author, &text),
                    None => text,
                }));
            }
            MessageBody::Assistant { text, mut tool_calls } => {
                tool_calls.retain(|call| answered.contains(&call.id));
                open = tool_calls.iter().map(|call| call.id.clone()).collect();
                if !text.trim().is_empty() || !tool_calls.is_empty() {
                    rebuilt.push(ChatMessage::Assistant { text, tool_calls, replay: None });
                }
            }
            MessageBody::Tool { call_id, tool_name, text } => {
                if open.remove(&call_id) {
                    let result = ToolResult { call_id, tool_name, text };
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

/// What somebody said in talk between people. It matters who, and it is not the user who tells the model something.
fn said_by(author: &str, text: &str) -> String {
    let said = without_fence(&format!("{}: {text}", author.replace(char::is_control, " ")), "memory");
    format!("<memory>\n{said}\n</memory>")
}

/// The same with user and assistant taking turns, from the user to the assistant: what providers insist on. Talk from
/// elsewhere may have two of one in a row, or lack the first or the last word.
fn in_turns(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let mut turns: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    for message in messages {
        match (turns.last_mut(), message) {
            (Some(ChatMessage::User(before)), ChatMessage::User(text)) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            (
                Some(ChatMessage::Assistant { text: before, tool_calls: none, .. }),
                ChatMessage::Assistant { text, tool_calls, .. },
            ) if none.is_empty() => {
                if !before.is_empty() && !text.is_empty() {
                    before.push_str("\n\n");
                }
                before.push_str(&text);
                *none = tool_calls;
            }
            (None, message @ (ChatMessage::Assistant { .. } | ChatMessage::ToolResults(_))) => {
                turns.extend([ChatMessage::User("(nothing)".into()), message]);
            }
            (_, message) => turns.push(message),
        }
    }
    if matches!(turns.last(), Some(ChatMessage::User(_) | ChatMessage::ToolResults(_))) {
        turns.push(ChatMessage::Assistant {
            text: "(no answer)".into(),
            tool_calls: Vec::new(),
            replay: None,
        });
    }
    turns
}

/// The first exchange that stays in a window of `room`, given how large each is. When not all fit, so many leave that a
/// quarter of the room is free again; or those for which a summary was made ahead, if that is enough.
pub(crate) fn first_kept(sizes: &[u64], room: u64, prepared: Option<usize>) -> usize {
    // What is left from each exchange on.
    let mut rest: Vec<u64> = sizes
        .iter()
        .rev()
        .scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        })
        .collect();
    rest.reverse();
    rest.push(0);
    if rest[0] <= room {
        return 0;
    }
    if let Some(first) = prepared.filter(|first| rest.get(*first).is_some_and(|rest| *rest <= room)) {
        return first;
    }
    let enough = |most: u64| rest.iter().position(|rest| *rest <= most).unwrap_or(sizes.len());
    let first = enough(room - room / 4);
    // The last exchange stays if there is any way.
    if first == sizes.len() { enough(room) } else { first }
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
            provenance: Provenance::Said,
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

    /// `user: text`, `assistant: text [calls]`, `results: ids`.
    fn outline(messages: Vec<Message>) -> Vec<String> {
        let ids = |ids: Vec<&String>| ids.into_iter().cloned().collect::<Vec<_>>().join(" ");
        exchanges(messages, 1000)
            .iter()
            .flat_map(|exchange| &exchange.messages)
            .map(|message| match message {
                ChatMessage::User(text) => format!("user: {text}"),
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
            message(1, assistant("", &["a"]), Visibility::Redacted),
            message(1, result("a"), Visibility::Redacted),
            shown(assistant("it says hello", &[])),
        ]);
        assert_eq!(sent, ["user: read it", "assistant: it says hello []"]);
    }

    #[test]
    fn calls_and_results_come_back_in_pairs() {
        let sent = outline(vec![
            shown(user("read both")),
            shown(assistant("", &["a", "b"])),
            shown(result("a")),
            shown(result("b")),
            shown(assistant("done", &[])),
        ]);
        // All results of one reply stand together.
        assert_eq!(sent, ["user: read both", "assistant:  [a b]", "results: a b", "assistant: done []"]);
    }

    #[test]
    fn half_a_pair_is_left_out() {
        let sent = outline(vec![
            shown(user("go")),
            shown(assistant("looking", &["lost"])),
            shown(result("orphan")),
            shown(assistant("", &["also lost"])),
            shown(assistant("done", &[])),
            // The same id in another exchange answers nothing here.
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
    fn user_and_assistant_take_turns_whatever_was_kept() {
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
    fn a_message_that_is_too_long_is_cut() {
        let mut long = shown(user(&"word ".repeat(3000)));
        long.tokens = 3000;
        let sent = exchanges(vec![long, shown(assistant("ok", &[]))], 100);
        assert!(sent[0].tokens < 150);
        assert!(
            matches!(&sent[0].messages[0], ChatMessage::User(text) if text.contains("bytes left out here"))
        );
    }

    #[test]
    fn the_window_is_left_in_blocks() {
        let sizes = [10; 20];
        assert_eq!(first_kept(&sizes[..10], 100, None), 0);
        // One too many: so many leave that a quarter of the room is free.
        assert_eq!(first_kept(&sizes[..11], 100, None), 4);
        assert_eq!(first_kept(&sizes[..11], 100, Some(3)), 3, "a summary was made for three");
        assert_eq!(first_kept(&sizes, 100, Some(3)), 13, "which are too few here");
        assert_eq!(first_kept(&[10, 90], 100, None), 0);
        assert_eq!(first_kept(&[20, 90], 100, None), 1, "the last one stays if it can");
        assert_eq!(first_kept(&[20, 190], 100, None), 2);
        assert_eq!(first_kept(&[], 0, None), 0);
    }
}
