//! Earlier exchanges of a conversation, rebuilt from the store for the next request.
//!
//! Redacted messages are left out. Tool calls and their results stay together: a provider refuses a call
//! without its result, or a result without its call, so that a half of a pair is left out too.

use std::collections::HashSet;

use memoir_core::{ExchangeId, Message, MessageBody, Visibility};
use memoir_models::{ChatMessage, ChatRequest, ToolResult};

/// The messages as they are sent again, oldest first.
pub(crate) fn rebuild(messages: Vec<Message>) -> Vec<ChatMessage> {
    let shown: Vec<Message> =
        messages.into_iter().filter(|message| message.visibility == Visibility::Shown).collect();
    // Ids of calls are unique within an exchange and no further.
    let answered: HashSet<(ExchangeId, String)> = shown
        .iter()
        .filter_map(|message| match &message.body {
            MessageBody::Tool { call_id, .. } => Some((message.exchange_id, call_id.clone())),
            _ => None,
        })
        .collect();

    let mut rebuilt: Vec<ChatMessage> = Vec::with_capacity(shown.len());
    // Calls of the last assistant message that still wait for their result.
    let mut open = HashSet::new();
    for Message { exchange_id, body, .. } in shown {
        match body {
            MessageBody::User { text } => {
                open.clear();
                rebuilt.push(ChatMessage::User(text));
            }
            MessageBody::Assistant { text, mut tool_calls } => {
                tool_calls.retain(|call| answered.contains(&(exchange_id, call.id.clone())));
                open = tool_calls.iter().map(|call| call.id.clone()).collect();
                if !text.is_empty() || !tool_calls.is_empty() {
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

/// Leaves out the older half of the earlier exchanges, whole ones only; says whether there were any.
pub(crate) fn drop_older_half(request: &mut ChatRequest) -> bool {
    let history = &request.messages[..request.stable_messages];
    let starts: Vec<usize> =
        (0..history.len()).filter(|index| matches!(history[*index], ChatMessage::User(_))).collect();
    if starts.is_empty() {
        return false;
    }
    let kept_from = starts.get(starts.len().div_ceil(2)).copied().unwrap_or(history.len());
    request.messages.drain(..kept_from);
    request.stable_messages -= kept_from;
    true
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
    fn outline(messages: &[ChatMessage]) -> Vec<String> {
        let ids = |ids: Vec<&String>| ids.into_iter().cloned().collect::<Vec<_>>().join(" ");
        messages
            .iter()
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
        let rebuilt = rebuild(vec![
            shown(user("read it")),
            message(1, assistant("", &["a"]), Visibility::Redacted),
            message(1, result("a"), Visibility::Redacted),
            shown(assistant("it says hello", &[])),
        ]);
        assert_eq!(outline(&rebuilt), ["user: read it", "assistant: it says hello []"]);
    }

    #[test]
    fn calls_and_results_come_back_in_pairs() {
        let rebuilt = rebuild(vec![
            shown(user("read both")),
            shown(assistant("", &["a", "b"])),
            shown(result("a")),
            shown(result("b")),
            shown(assistant("done", &[])),
        ]);
        // All results of one reply stand together.
        assert_eq!(
            outline(&rebuilt),
            ["user: read both", "assistant:  [a b]", "results: a b", "assistant: done []"]
        );
    }

    #[test]
    fn half_a_pair_is_left_out() {
        let rebuilt = rebuild(vec![
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
            outline(&rebuilt),
            [
                "user: go",
                "assistant: looking []",
                "assistant: done []",
                "user: more",
                "assistant:  [lost]",
                "results: lost"
            ]
        );
    }

    #[test]
    fn the_older_half_is_dropped_by_whole_exchanges() {
        let history = rebuild(
            (0..3)
                .flat_map(|n| [shown(user(&format!("q{n}"))), shown(assistant(&format!("a{n}"), &[]))])
                .collect(),
        );
        let mut request =
            ChatRequest { stable_messages: history.len(), messages: history, ..ChatRequest::default() };
        request.messages.push(ChatMessage::User("now".into()));
        assert!(drop_older_half(&mut request));
        assert_eq!(outline(&request.messages), ["user: q2", "assistant: a2 []", "user: now"]);
        assert_eq!(request.stable_messages, 2);
        assert!(drop_older_half(&mut request));
        assert_eq!(outline(&request.messages), ["user: now"]);
        assert!(!drop_older_half(&mut request), "there is nothing left to drop");
    }
}
