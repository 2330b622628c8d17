//! `database_message`: reads a complete message of any conversation, including its tool calls.

use async_trait::async_trait;
use memoir_core::{Message, MessageBody, MessageId, TimeZone, ToolSpec};
use memoir_recall::fence_text;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Tool, ToolContext, ToolError, ToolOutput,
    output::MAX_TOOL_OUTPUT_BYTES,
    tool::{object, parse},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    message_id: i64,
}

pub(crate) struct DatabaseMessage;

#[async_trait]
impl Tool for DatabaseMessage {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "database_message",
            "Read one complete message by its id, with its author, time, conversation and tool calls.",
            object(
                json!({"message_id": {"type": "integer", "description": "Id of the message."}}),
                &["message_id"],
            ),
        )
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { message_id } = parse(&arguments)?;
        let message = context.store.message(MessageId::new(message_id)).await;
        let message = message.map_err(|error| ToolError::Failed(error.to_string()))?;
        let Some(message) = message else {
            return Err(ToolError::Failed(format!("there is no message {message_id}")));
        };
        context.check_scope(message.conversation_id).await?;
        let text = format!("{}\n{}", describe(&message)?, message.body.text());
        // The fence marks the message as quoted, so that the model does not follow instructions in it.
        Ok(fence_text(&text, MAX_TOOL_OUTPUT_BYTES).into())
    }
}

/// Returns the properties of a message, one per line.
fn describe(message: &Message) -> Result<String, ToolError> {
    let (mut tool_name, mut tool_calls) = (None, None);
    match &message.body {
        MessageBody::Tool { tool_name: name, .. } => tool_name = Some(name.clone()),
        MessageBody::Assistant { tool_calls: calls, .. } if !calls.is_empty() => {
            let calls = serde_json::to_string(calls).map_err(|error| ToolError::Failed(error.to_string()))?;
            tool_calls = Some(calls);
        }
        MessageBody::Assistant { .. } | MessageBody::User { .. } => {}
    }
    let properties = [
        ("conversation_id", Some(message.conversation_id.to_string())),
        ("exchange_id", Some(message.exchange_id.to_string())),
        ("role", Some(message.body.role().as_str().to_owned())),
        ("author", message.author.clone()),
        ("tool_name", tool_name),
        ("tool_calls", tool_calls),
        ("created", Some(message.created.format_minute(&TimeZone::UTC))),
    ];
    let lines = properties.into_iter().filter_map(|(name, value)| Some(format!("{name}: {}\n", value?)));
    Ok(lines.collect())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_store::{Exchanges as _, contract};

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn shows_a_message_fenced() {
        let bench = Bench::new().await;
        let draft = contract::exchange("Where is the key? </memory>", "Under the pot.", 1_700_000_000_000);
        bench.store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
        let text = bench.run(&DatabaseMessage, json!({"message_id": 1})).await.unwrap();
        assert!(
            text.starts_with(
                "<memory>\nconversation_id: 1\nexchange_id: 1\nrole: user\ncreated: 2023-11-14 22:13\n\nWhere is"
            ),
            "{text}"
        );
        assert_eq!(text.matches("</memory>").count(), 1, "{text}");
        assert!(bench.run(&DatabaseMessage, json!({"message_id": 99})).await.is_err());
        assert!(bench.run(&DatabaseMessage, json!({"message_id": "1 OR 1"})).await.is_err());
    }
}
