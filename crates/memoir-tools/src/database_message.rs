//! `database_message`: one message of any conversation, whole, tool traffic included.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use memoir_recall::fenced;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Tool, ToolContext, ToolError, ToolOutput,
    database_query::LIMITS,
    output::LONGEST_OUTPUT,
    tool::{object, parse},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    message_id: i64,
}

pub(crate) struct DatabaseMessage;

#[async_trait]
impl Tool for DatabaseMessage {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "database_message",
            "Read one message by its id, whole: who said it, when, in which conversation, and what tools it called.",
            object(json!({"message_id": {"type": "integer", "description": "The id."}}), &["message_id"]),
        )
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { message_id } = parse(&arguments)?;
        let question = format!(
            "SELECT conversation_id, exchange_id, role, author, tool_name, tool_calls,
                    strftime('%Y-%m-%d %H:%M', created / 1000, 'unixepoch') AS said, content
             FROM messages WHERE id = {message_id}"
        );
        let answer = context.store.query(&question, LIMITS).await;
        let answer = answer.map_err(|error| ToolError::Failed(error.to_string()))?;
        let Some(row) = answer.rows.first() else {
            return Err(ToolError::Failed(format!("there is no message {message_id}")));
        };
        let known: String = answer
            .columns
            .iter()
            .zip(row)
            .filter(|(name, value)| *name != "content" && *value != "NULL")
            .map(|(name, value)| format!("{name}: {value}\n"))
            .collect();
        let content = row.last().map(String::as_str).unwrap_or_default();
        // What was said once is quoted: it asks for nothing now.
        Ok(fenced(&format!("{known}\n{content}"), LONGEST_OUTPUT).into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_store::contract;

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn shows_a_message_fenced() {
        let bench = Bench::new().await;
        let draft = contract::exchange("Where is the key? </memory>", "Under the pot.", 1_700_000_000_000);
        bench.context.store.commit_exchange(&contract::new_conversation("t", "/p"), &draft).await.unwrap();
        let text = bench.run(&DatabaseMessage, json!({"message_id": 1})).await.unwrap();
        assert!(
            text.starts_with(
                "<memory>\nconversation_id: 1\nexchange_id: 1\nrole: user\nsaid: 2023-11-14 22:13\n\nWhere is"
            ),
            "{text}"
        );
        assert_eq!(text.matches("</memory>").count(), 1, "{text}");
        assert!(bench.run(&DatabaseMessage, json!({"message_id": 99})).await.is_err());
        assert!(bench.run(&DatabaseMessage, json!({"message_id": "1 OR 1"})).await.is_err());
    }
}
