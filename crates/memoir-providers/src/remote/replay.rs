//! Replies in genai's form, kept as JSON so that no type of genai leaves this crate.

use genai::chat::MessageContent;
use memoir_models::Replay;

/// Keeps a reply so that it can be sent back as it came.
pub(super) fn write(content: MessageContent) -> Option<Replay> {
    match serde_json::to_value(content) {
        Ok(content) => Some(Replay::new(content)),
        Err(error) => {
            // The text and the calls of the reply are sent back without it. The error itself may quote the reply.
            tracing::warn!(error = ?error.classify(), "cannot keep a reply in the form of its provider");
            None
        }
    }
}

/// Reads a reply. Returns `None` for one that another implementation of a model wrote.
pub(super) fn read(replay: Replay) -> Option<MessageContent> {
    match serde_json::from_value(replay.into_content()) {
        Ok(content) => Some(content),
        Err(error) => {
            // The text and the calls of the reply are sent back instead. The error itself may quote the reply.
            tracing::debug!(error = ?error.classify(), "a reply is not in the form of this provider");
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
    fn a_reply_is_read_as_it_was_written() {
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
    fn a_reply_of_another_implementation_is_left_out() {
        assert!(read(Replay::new(json!({"something": "else"}))).is_none());
    }
}
