//! OpenAI's chat completions format: server-sent events, ended by `[DONE]`.

use serde_json::{Value, json};

use super::{
    dialect::{Dialect, sse},
    reply::{Ending, Piece, Reply},
};

pub(super) struct OpenAi;

impl Dialect for OpenAi {
    fn error_body(&self, status: u16, message: &str) -> Value {
        json!({"error": {"message": message, "type": "error", "code": status}})
    }

    fn events(&self, reply: &Reply) -> Vec<String> {
        let mut tool_calls = 0;
        let mut events: Vec<String> = reply
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => chunk(json!({"content": text}), Value::Null),
                Piece::Thinking { text, .. } => chunk(json!({"reasoning_content": text}), Value::Null),
                Piece::Raw(raw) => raw.clone(),
                Piece::ToolCall { id, name, arguments } => {
                    let function = json!({"name": name, "arguments": arguments});
                    let call =
                        json!({"index": tool_calls, "id": id, "type": "function", "function": function});
                    tool_calls += 1;
                    chunk(json!({"tool_calls": [call]}), Value::Null)
                }
            })
            .collect();
        let reason = match reply.ending {
            Ending::Proper if tool_calls > 0 => "tool_calls",
            Ending::Proper => "stop",
            Ending::Filtered => "content_filter",
            Ending::OutOfLength => "length",
            Ending::Closed | Ending::Cut | Ending::Silence => return events,
        };
        events.push(chunk(json!({}), json!(reason)));
        let usage = json!({
            "prompt_tokens": reply.usage.input,
            "completion_tokens": reply.usage.output,
            "total_tokens": reply.usage.input + reply.usage.output,
            "prompt_tokens_details": {"cached_tokens": reply.usage.cached},
            "completion_tokens_details": {"reasoning_tokens": reply.usage.reasoning},
        });
        events.push(sse(None, &json!({"object": "chat.completion.chunk", "choices": [], "usage": usage})));
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    fn whole(&self, reply: &Reply) -> Option<Value> {
        let calls = reply.pieces.iter().filter_map(|piece| match piece {
            Piece::ToolCall { id, name, arguments } => {
                let function = json!({"name": name, "arguments": arguments});
                Some(json!({"id": id, "type": "function", "function": function}))
            }
            _ => None,
        });
        let calls: Vec<Value> = calls.collect();
        let (mut message, finish) = (json!({"role": "assistant", "content": reply.all_text()}), "stop");
        let finish = if calls.is_empty() { finish } else { "tool_calls" };
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        let usage = json!({"prompt_tokens": reply.usage.input, "completion_tokens": reply.usage.output});
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        Some(json!({"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}))
    }
}

fn chunk(delta: Value, finish_reason: Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    sse(None, &json!({"object": "chat.completion.chunk", "choices": [choice]}))
}
