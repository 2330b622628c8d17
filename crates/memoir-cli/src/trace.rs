//! How much of a turn is shown at each verbosity level: 0 tools with one argument, 1 shortened tool arguments, 2 full tool
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
        if let Some(text) = main_argument(&call.arguments) {
            line.push(' ');
            line.push_str(&shorten(&without_secrets(text.lines().next().unwrap_or_default().trim())));
        }
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

/// Names of the arguments that say most about a call, best first.
const MAIN_ARGUMENTS: [&str; 10] =
    ["command", "code", "path", "source", "pattern", "query", "task", "url", "uri", "name"];

/// Maximum number of characters of the main argument at verbosity 0.
const MAIN_LENGTH: usize = 60;

/// Returns the argument that says most about a call, or else its first text.
fn main_argument(arguments: &Value) -> Option<&str> {
    let known = MAIN_ARGUMENTS.iter().find_map(|name| arguments.get(name)?.as_str());
    known.or_else(|| arguments.as_object()?.values().find_map(Value::as_str))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAIN_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
        assert_eq!(line(0), format!("file_read {}", "a".repeat(40)));
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
