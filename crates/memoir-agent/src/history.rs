//! Earlier exchanges of a conversation, rebuilt from the store for the next request.
//!
//! Redacted messages are left out. Tool calls and their results stay together: a provider refuses a call
//! without its result, or a result without its call, so that a half of a pair is left out too.

use std::collections::HashSet;

use memoir_core::{Message, MessageBody, Visibility};
use memoir_models::{ChatMessage, ToolResult};

/// The messages as they are sent again, oldest first.
pub(crate) fn rebuild(messages: Vec<Message>) -> Vec<ChatMessage> {
    let shown: Vec<MessageBody> = messages
        .into_iter()
        .filter(|message| message.visibility == Visibility::Shown)
        .map(|message| message.body)
        .collect();
    let answered: HashSet<String> = shown
        .iter()
        .filter_map(|body| match body {
            MessageBody::Tool { call_id, .. } => Some(call_id.clone()),
            _ => None,
        })
        .collect();

    let mut rebuilt: Vec<ChatMessage> = Vec::with_capacity(shown.len());
    // Calls of the last assistant message that still wait for their result.
    let mut open = HashSet::new();
    for body in shown {
        match body {
            MessageBody::User { text } => {
                open.clear();
                rebuilt.push(ChatMessage::User(text));
            }
            MessageBody::Assistant { text, mut tool_calls } => {
                tool_calls.retain(|call| answered.contains(&call.id));
                open = tool_calls.iter().map(|call| call.id.clone()).collect();
                if !text.is_empty() || !tool_calls.is_empty() {
                    rebuilt.push(ChatMessage::Assistant {
                        thinking: Vec::new(),
                        text,
                        tool_calls,
                    });
                }
            }
            MessageBody::Tool {
                call_id,
                tool_name,
                text,
            } => {
                if open.remove(&call_id) {
                    let result = ToolResult {
                        call_id,
                        tool_name,
                        text,
                    };
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

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, ExchangeId, MessageId, Provenance, Timestamp, ToolCall};
    use serde_json::json;

    use super::*;

    fn message(body: MessageBody, visibility: Visibility) -> Message {
        Message {
            id: MessageId::new(1),
            exchange_id: ExchangeId::new(1),
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
        message(body, Visibility::Shown)
    }

    fn user(text: &str) -> MessageBody {
        MessageBody::User { text: text.into() }
    }

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "file_read".into(),
            arguments: json!({}),
        }
    }

    fn assistant(text: &str, calls: &[&str]) -> MessageBody {
        MessageBody::Assistant {
            text: text.into(),
            tool_calls: calls.iter().map(|id| call(id)).collect(),
        }
    }

    fn result(id: &str) -> MessageBody {
        MessageBody::Tool {
            call_id: id.into(),
            tool_name: "file_read".into(),
            text: format!("output {id}"),
        }
    }

    #[test]
    fn redacted_messages_are_not_sent_again() {
        let rebuilt = rebuild(vec![
            shown(user("read it")),
            message(assistant("", &["a"]), Visibility::Redacted),
            message(result("a"), Visibility::Redacted),
            shown(assistant("it says hello", &[])),
        ]);
        assert_eq!(
            rebuilt,
            [
                ChatMessage::User("read it".into()),
                ChatMessage::Assistant {
                    thinking: vec![],
                    text: "it says hello".into(),
                    tool_calls: vec![]
                },
            ]
        );
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
        let ChatMessage::Assistant { tool_calls, .. } = &rebuilt[1] else {
            panic!("{rebuilt:?}")
        };
        assert_eq!(tool_calls, &[call("a"), call("b")]);
        let ChatMessage::ToolResults(results) = &rebuilt[2] else {
            panic!("{rebuilt:?}")
        };
        let ids: Vec<_> = results.iter().map(|result| result.call_id.as_str()).collect();
        assert_eq!(ids, ["a", "b"], "all results of one reply stand together");
        assert_eq!(rebuilt.len(), 4);
    }

    #[test]
    fn half_a_pair_is_left_out() {
        let rebuilt = rebuild(vec![
            shown(user("go")),
            shown(assistant("looking", &["lost"])),
            shown(result("orphan")),
            shown(assistant("", &["also lost"])),
            shown(assistant("done", &[])),
        ]);
        let texts: Vec<_> = rebuilt
            .iter()
            .map(|message| match message {
                ChatMessage::User(text) | ChatMessage::Assistant { text, .. } => text.as_str(),
                ChatMessage::ToolResults(_) => "results",
            })
            .collect();
        assert_eq!(texts, ["go", "looking", "done"]);
        assert!(rebuilt.iter().all(
            |message| !matches!(message, ChatMessage::Assistant { tool_calls, .. } if !tool_calls.is_empty())
        ));
    }
}
