//! OpenAI's Responses format: named server-sent events, ended by `response.completed`.

use serde_json::{Value, json};

use super::{
    dialect::{Dialect, sse},
    openai::OpenAi,
    reply::{Ending, Piece, Reply},
};

pub(super) struct Responses;

impl Dialect for Responses {
    fn error_body(&self, status: u16, message: &str) -> Value {
        OpenAi.error_body(status, message)
    }

    fn events(&self, reply: &Reply) -> Vec<String> {
        let mut events =
            vec![event("response.created", json!({"response": {"status": "in_progress", "error": null}}))];
        let mut text = String::new();
        for (index, piece) in reply.pieces.iter().enumerate() {
            events.extend(piece_events(index, piece));
            if let Piece::Text(part) = piece {
                text.push_str(part);
            }
        }
        if !text.is_empty() {
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content});
            events.push(event("response.output_item.done", json!({"item": item})));
        }
        let (kind, details) = match reply.ending {
            Ending::Proper => ("response.completed", Value::Null),
            Ending::Filtered => ("response.incomplete", json!({"reason": "content_filter"})),
            Ending::OutOfLength => ("response.incomplete", json!({"reason": "max_output_tokens"})),
            Ending::Closed | Ending::Cut | Ending::Silence => return events,
        };
        let usage = json!({
            "input_tokens": reply.usage.input,
            "input_tokens_details": {"cached_tokens": reply.usage.cached},
            "output_tokens": reply.usage.output,
            "output_tokens_details": {"reasoning_tokens": reply.usage.reasoning},
        });
        let response =
            json!({"status": "completed", "error": null, "incomplete_details": details, "usage": usage});
        events.push(event(kind, json!({"response": response})));
        events
    }

    fn whole(&self, reply: &Reply) -> Option<Value> {
        let content = json!([{"type": "output_text", "text": reply.all_text(), "annotations": []}]);
        let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content});
        let usage = json!({"input_tokens": reply.usage.input, "output_tokens": reply.usage.output});
        Some(
            json!({"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}),
        )
    }
}

fn piece_events(index: usize, piece: &Piece) -> Vec<String> {
    match piece {
        Piece::Raw(raw) => vec![raw.clone()],
        Piece::Text(text) => vec![event("response.output_text.delta", json!({"delta": text}))],
        Piece::Thinking { text, signature } => {
            let summary = json!([{"type": "summary_text", "text": text}]);
            let item = json!({"type": "reasoning", "id": format!("rs_{index}"), "summary": summary, "encrypted_content": signature});
            vec![
                event("response.reasoning_summary_text.delta", json!({"delta": text})),
                event("response.output_item.done", json!({"item": item})),
            ]
        }
        Piece::ToolCall { id, name, arguments } => {
            let item = json!({"type": "function_call", "id": format!("fc_{index}"), "call_id": id, "name": name, "arguments": arguments, "status": "completed"});
            vec![
                event("response.function_call_arguments.delta", json!({"delta": arguments})),
                event("response.output_item.done", json!({"item": item})),
            ]
        }
    }
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    sse(Some(name), &data)
}

/// Returns the messages of a request in the format of chat completions, so that tests need not know the API of a model.
pub(super) fn messages(body: &Value) -> Value {
    let mut messages = Vec::new();
    if let Some(instructions) = body.get("instructions") {
        messages.push(json!({"role": "system", "content": instructions}));
    }
    for item in body["input"].as_array().into_iter().flatten() {
        messages.push(match item["type"].as_str() {
            Some("function_call") => {
                let function = json!({"name": item["name"], "arguments": item["arguments"]});
                let call = json!({"id": item["call_id"], "type": "function", "function": function});
                json!({"role": "assistant", "content": "", "tool_calls": [call]})
            }
            Some("function_call_output") => {
                json!({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
            }
            _ => json!({"role": item["role"], "content": item["content"]}),
        });
    }
    Value::Array(messages)
}
