//! What is shown of a turn's inside, by verbosity: 0 the names of tools; 1 the beginning of their parameters;
//! 2 all of them; 3 what is sent; 4 the tools' schemas too.

use std::fmt::Write as _;

use memoir_core::ToolCall;
use memoir_models::{ChatMessage, ChatRequest};
use memoir_redact::without_secrets;
use serde_json::Value;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Verbosity(u8);

impl Verbosity {
    pub(crate) const MOST: u8 = 4;

    /// The level, at most the highest there is.
    pub(crate) fn new(level: u8) -> Self {
        Self(level.min(Self::MOST))
    }

    pub(crate) fn level(self) -> u8 {
        self.0
    }
}

/// How much of a parameter is shown at verbosity 1.
const SHORT: usize = 30;

/// A tool call in one line.
pub(crate) fn tool_call(call: &ToolCall, verbosity: Verbosity) -> String {
    let mut line = call.name.clone();
    if verbosity.0 == 0 {
        return line;
    }
    match &call.arguments {
        Value::Object(parameters) => {
            for (name, value) in parameters {
                // Writing to a string cannot fail.
                let _ = write!(line, " {name}={}", parameter(value, verbosity));
            }
        }
        broken => {
            // Writing to a string cannot fail.
            let _ = write!(line, " {}", parameter(broken, verbosity));
        }
    }
    line
}

fn parameter(value: &Value, verbosity: Verbosity) -> String {
    let text = without_secrets(&value.to_string()).into_owned();
    match text.char_indices().nth(SHORT) {
        Some((end, _)) if verbosity.0 == 1 => format!("{}…", &text[..end]),
        _ => text,
    }
}

/// What is sent, from verbosity 3 on.
pub(crate) fn request(request: &ChatRequest, verbosity: Verbosity) -> Option<String> {
    if verbosity.0 < 3 {
        return None;
    }
    let mut text = format!("--- sent\nsystem: {}\n", request.system);
    for message in &request.messages {
        let _ = match message {
            ChatMessage::User(said) => writeln!(text, "user: {said}"),
            ChatMessage::Assistant { text: said, tool_calls, .. } => {
                let calls: Vec<_> = tool_calls.iter().map(|call| tool_call(call, Verbosity(2))).collect();
                writeln!(
                    text,
                    "assistant: {said}{}",
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
    fn parameters_are_shown_by_verbosity() {
        let call =
            ToolCall { id: "1".into(), name: "file_read".into(), arguments: json!({"path": "a".repeat(40)}) };
        let shown = |level| tool_call(&call, Verbosity::new(level));
        assert_eq!(shown(0), "file_read");
        assert_eq!(shown(1), format!("file_read path=\"{}…", "a".repeat(29)));
        assert_eq!(shown(2), format!("file_read path=\"{}\"", "a".repeat(40)));
    }

    #[test]
    fn what_is_sent_is_shown_from_three_on() {
        let sent = ChatRequest {
            system: "Be kind.".into(),
            messages: vec![ChatMessage::User("hi".into())],
            ..ChatRequest::default()
        };
        assert_eq!(request(&sent, Verbosity::new(2)), None);
        insta::assert_snapshot!(request(&sent, Verbosity::new(9)).unwrap_or_default(), @r"
        --- sent
        system: Be kind.
        user: hi
        ---
        ");
    }
}
