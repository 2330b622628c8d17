//! Google's Gemini format: server-sent events, the last of which has a finish reason.

use serde_json::{Value, json};

use super::{
    dialect::{Dialect, sse},
    reply::{Ending, Piece, Reply},
};

pub(super) struct Gemini;

impl Dialect for Gemini {
    fn error_body(&self, status: u16, message: &str) -> Value {
        json!({"error": {"code": status, "message": message, "status": "ERROR"}})
    }

    fn events(&self, reply: &Reply) -> Vec<String> {
        let mut signature = None;
        let mut events = Vec::new();
        for piece in &reply.pieces {
            match piece {
                Piece::Raw(raw) => events.push(raw.clone()),
                Piece::Text(text) => events.push(chunk(json!({"text": text}))),
                Piece::Thinking { text, signature: new_signature } => {
                    // Gemini attaches the signature to the tool call that follows the thought.
                    signature = Some(new_signature.clone());
                    events.push(chunk(json!({"text": text, "thought": true})));
                }
                Piece::ToolCall { id, name, arguments } => {
                    let args = serde_json::from_str(arguments).unwrap_or(Value::String(arguments.clone()));
                    let mut part = json!({"functionCall": {"id": id, "name": name, "args": args}});
                    if let Some(signature) = signature.take() {
                        part["thoughtSignature"] = json!(signature);
                    }
                    events.push(chunk(part));
                }
            }
        }
        let reason = match reply.ending {
            Ending::Proper => "STOP",
            Ending::Filtered => "SAFETY",
            Ending::OutOfLength => "MAX_TOKENS",
            Ending::Closed | Ending::Cut | Ending::Silence => return events,
        };
        let usage = reply.usage;
        // Gemini's output tokens do not include reasoning.
        let counts = json!({
            "promptTokenCount": usage.input,
            "candidatesTokenCount": usage.output - usage.reasoning,
            "thoughtsTokenCount": usage.reasoning,
            "cachedContentTokenCount": usage.cached,
            "totalTokenCount": usage.input + usage.output,
        });
        let candidate = json!({"content": {"role": "model", "parts": []}, "finishReason": reason});
        events.push(sse(None, &json!({"candidates": [candidate], "usageMetadata": counts})));
        events
    }
}

fn chunk(part: Value) -> String {
    sse(None, &json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]}))
}
