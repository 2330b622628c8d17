//! Ollama's format: JSON Lines, the last of which is marked `done`.

use serde_json::{Value, json};

use super::{
    dialect::Dialect,
    reply::{Ending, Piece, Reply},
};

pub(super) struct Ollama;

impl Dialect for Ollama {
    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn error_body(&self, _status: u16, message: &str) -> Value {
        json!({"error": message})
    }

    fn events(&self, reply: &Reply) -> Vec<String> {
        let mut events: Vec<String> = reply
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Raw(raw) => format!("{raw}\n"),
                Piece::Text(text) => line(json!({"role": "assistant", "content": text})),
                Piece::Thinking { text, .. } => {
                    line(json!({"role": "assistant", "content": "", "thinking": text}))
                }
                Piece::ToolCall { name, arguments, .. } => {
                    let arguments =
                        serde_json::from_str(arguments).unwrap_or(Value::String(arguments.clone()));
                    let call = json!({"function": {"name": name, "arguments": arguments}});
                    line(json!({"role": "assistant", "content": "", "tool_calls": [call]}))
                }
            })
            .collect();
        let reason = match reply.ending {
            Ending::Proper | Ending::Filtered => "stop",
            Ending::OutOfLength => "length",
            Ending::Closed | Ending::Cut | Ending::Silence => return events,
        };
        let done = json!({
            "message": {"role": "assistant", "content": ""},
            "done": true,
            "done_reason": reason,
            "prompt_eval_count": reply.usage.input,
            "prompt_eval_cached_count": reply.usage.cached,
            "eval_count": reply.usage.output,
        });
        events.push(format!("{done}\n"));
        events
    }
}

fn line(message: Value) -> String {
    format!("{}\n", json!({"message": message, "done": false}))
}
