//! Replies in genai's format, stored as JSON so that genai's types stay private to this crate.

use genai::chat::MessageContent;
use memoir_models::Replay;

/// Saves a reply so that it can be sent back unchanged.
pub(super) fn write(content: MessageContent) -> Option<Replay> {
    match serde_json::to_value(content) {
        Ok(content) => Some(Replay::new(content)),
        Err(error) => {
            // The reply's text and tool calls are sent back instead. The error is not logged because it may quote them.
            tracing::warn!(error = ?error.classify(), "could not save a reply in its provider's format");
            None
        }
    }
}

/// Reads a saved reply. Returns `None` if another model implementation wrote it.
pub(super) fn read(replay: Replay) -> Option<MessageContent> {
    match serde_json::from_value(replay.into_content()) {
        Ok(content) => Some(content),
        Err(error) => {
            // The reply's text and tool calls are sent back instead. The error is not logged because it may quote them.
            tracing::debug!(error = ?error.classify(), "a reply is not in this provider's format");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use genai::chat::{ContentPart, ToolCall};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn replies_round_trip() {
        let mut deep = json!(1);
        for _ in 0..500 {
            deep = json!([deep]);
        }
        let call = ToolCall {
            call_id: "c".into(),
            fn_name: "look".into(),
            fn_arguments: json!({"z": deep, "a": 0.1}),
            thought_signatures: Some(vec!["signature".into()]),
        };
        let parts = vec![
            ContentPart::ThoughtSignature("thought".into()),
            ContentPart::ReasoningContent("reasons".into()),
            ContentPart::Text("text".into()),
            ContentPart::ToolCall(call),
        ];
        let content = MessageContent::from_parts(parts);
        let before: Value = serde_json::to_value(&content).unwrap();
        let after = read(write(content).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(after).unwrap(), before);
    }

    #[test]
    fn a_reply_of_another_implementation_is_ignored() {
        assert!(read(Replay::new(json!({"something": "else"}))).is_none());
    }
}
