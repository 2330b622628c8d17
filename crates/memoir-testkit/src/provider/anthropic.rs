//! Anthropic's messages format: named server-sent events, ended by `message_stop`.

use serde_json::{Value, json};

use super::{
    dialect::{Dialect, sse},
    reply::{Ending, Piece, Reply},
};

pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn error_body(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}})
    }

    fn events(&self, reply: &Reply) -> Vec<String> {
        let usage = reply.usage;
        // Anthropic's input tokens include neither cache reads nor cache writes.
        let start_usage = json!({
            "input_tokens": usage.input - usage.cached - usage.cache_write,
            "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": usage.cache_write,
            "output_tokens": 1,
        });
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": start_usage});
        let mut events = vec![event("message_start", json!({"message": message})), event("ping", json!({}))];
        for (index, piece) in reply.pieces.iter().enumerate() {
            events.extend(block(index, piece));
        }
        let has_tool_calls = reply.pieces.iter().any(|piece| matches!(piece, Piece::ToolCall { .. }));
        let reason = match reply.ending {
            Ending::Proper if has_tool_calls => "tool_use",
            Ending::Proper => "end_turn",
            Ending::Filtered => "refusal",
            Ending::OutOfLength => "max_tokens",
            Ending::Closed | Ending::Cut | Ending::Silence => return events,
        };
        let end_usage = json!({"output_tokens": usage.output, "output_tokens_details": {"thinking_tokens": usage.reasoning}});
        events.push(event("message_delta", json!({"delta": {"stop_reason": reason}, "usage": end_usage})));
        events.push(event("message_stop", json!({})));
        events
    }

    fn whole(&self, reply: &Reply) -> Option<Value> {
        let mut content = vec![json!({"type": "text", "text": reply.all_text()})];
        content.extend(reply.pieces.iter().filter_map(|piece| match piece {
            Piece::ToolCall { id, name, arguments } => {
                let input: Value = serde_json::from_str(arguments).unwrap();
                Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
            }
            _ => None,
        }));
        let reason = if content.len() > 1 { "tool_use" } else { "end_turn" };
        let usage = json!({"input_tokens": reply.usage.input, "output_tokens": reply.usage.output});
        Some(json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": content, "stop_reason": reason, "usage": usage,
        }))
    }
}

fn block(index: usize, piece: &Piece) -> Vec<String> {
    let start = |block: Value| event("content_block_start", json!({"index": index, "content_block": block}));
    let delta = |delta: Value| event("content_block_delta", json!({"index": index, "delta": delta}));
    let stop = event("content_block_stop", json!({"index": index}));
    match piece {
        Piece::Raw(raw) => vec![raw.clone()],
        Piece::Text(text) => {
            vec![
                start(json!({"type": "text", "text": ""})),
                delta(json!({"type": "text_delta", "text": text})),
                stop,
            ]
        }
        Piece::Thinking { text, signature } => vec![
            start(json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(json!({"type": "thinking_delta", "thinking": text})),
            delta(json!({"type": "signature_delta", "signature": signature})),
            stop,
        ],
        Piece::ToolCall { id, name, arguments } => {
            let middle = arguments.floor_char_boundary(arguments.len() / 2);
            let (first, second) = arguments.split_at(middle);
            vec![
                start(json!({"type": "tool_use", "id": id, "name": name, "input": {}})),
                delta(json!({"type": "input_json_delta", "partial_json": first})),
                delta(json!({"type": "input_json_delta", "partial_json": second})),
                stop,
            ]
        }
    }
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    sse(Some(name), &data)
}
