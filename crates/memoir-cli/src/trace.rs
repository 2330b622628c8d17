//! How much of a turn is shown at each verbosity level: 0 tool names, 1 shortened tool arguments, 2 full tool
//! arguments, 3 requests to the model, 4 tool schemas as well.

use std::fmt::Write as _;

use memoir_core::ToolCall;
use memoir_models::{ChatMessage, ChatRequest};
use memoir_redact::without_secrets;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Verbosity(u8);

impl Verbosity {
    pub(crate) const MAX_LEVEL: u8 = 4;

    pub(crate) fn new(level: u8) -> Self {
        Self(level.min(Self::MAX_LEVEL))
    }

    pub(crate) fn level(self) -> u8 {
        self.0
    }
}

/// Maximum number of characters of an argument at verbosity 1.
const SHORT_LENGTH: usize = 30;

/// Returns a tool call as one line.
pub(crate) fn tool_call(call: &ToolCall, verbosity: Verbosity) -> String {
    let mut line = call.name.clone();
    if verbosity.0 == 0 {
        return line;
    }
    match &call.arguments {
        Value::Object(arguments) => {
            for (name, value) in arguments {
                // Writing to a string cannot fail.
                let _ = write!(line, " {name}={}", argument(value, verbosity));
            }
        }
        invalid => {
            // Writing to a string cannot fail.
            let _ = write!(line, " {}", argument(invalid, verbosity));
        }
    }
    line
}

fn argument(value: &Value, verbosity: Verbosity) -> String {
    let text = without_secrets(&value.to_string()).into_owned();
    match text.char_indices().nth(SHORT_LENGTH) {
        Some((end, _)) if verbosity.0 == 1 => format!("{}…", &text[..end]),
        _ => text,
    }
}

/// Returns a request as text, or `None` below verbosity 3.
pub(crate) fn request(request: &ChatRequest, verbosity: Verbosity) -> Option<String> {
    if verbosity.0 < 3 {
        return None;
    }
    let mut text = format!("--- sent\nsystem: {}\n", request.system);
    for message in &request.messages {
        let _ = match message {
            ChatMessage::User { text: prompt, .. } => writeln!(text, "user: {prompt}"),
            ChatMessage::Assistant { text: answer, tool_calls, .. } => {
                let calls: Vec<_> = tool_calls.iter().map(|call| tool_call(call, Verbosity(2))).collect();
                writeln!(
                    text,
                    "assistant: {answer}{}",
                    calls.iter().map(|call| format!("\n  [{call}]")).collect::<String>()
                )
            }
            ChatMessage::ToolResults(results) => results
                .iter()
                .try_for_each(|result| writeln!(text, "tool {}: {}", result.tool_name, result.text)),
        };
    }
    if verbosity.0 >= 4 {
        for tool in &request.tools {
            let _ = writeln!(text, "tool {}: {} {}", tool.name, tool.description, tool.parameters);
        }
    }
    text.push_str("---");
    Some(without_secrets(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_shown_by_verbosity() {
        let call =
            ToolCall { id: "1".into(), name: "file_read".into(), arguments: json!({"path": "a".repeat(40)}) };
        let line = |level| tool_call(&call, Verbosity::new(level));
        assert_eq!(line(0), "file_read");
        assert_eq!(line(1), format!("file_read path=\"{}…", "a".repeat(29)));
        assert_eq!(line(2), format!("file_read path=\"{}\"", "a".repeat(40)));
    }

    #[test]
    fn requests_are_shown_from_verbosity_3() {
        let chat_request = ChatRequest {
            system: "Be kind.".into(),
            messages: vec![ChatMessage::user("hi")],
            ..ChatRequest::default()
        };
        assert_eq!(request(&chat_request, Verbosity::new(2)), None);
        insta::assert_snapshot!(request(&chat_request, Verbosity::new(9)).unwrap_or_default(), @r"
        --- sent
        system: Be kind.
        user: hi
        ---
        ");
    }
}
