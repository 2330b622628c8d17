//! Asks the user what an MCP server wants to know.

use async_trait::async_trait;
use memoir_core::reveal_on_one_line;
use memoir_mcp::{FieldKind, QuestionField, Questioner, ServerQuestion};
use serde_json::{Map, Value};

use crate::{live::LiveView, question};

pub(super) struct TerminalQuestioner {
    pub(super) live: LiveView,
}

#[async_trait]
impl Questioner for TerminalQuestioner {
    async fn ask(&self, asked: &ServerQuestion) -> Option<Map<String, Value>> {
        let _paused = self.live.pause();
        // The mark shows that the line does not come from Memoir.
        say!(
            "\nThe MCP server {} asks:\n| {}",
            reveal_on_one_line(&asked.server),
            reveal_on_one_line(&asked.message)
        );
        let mut answers = Map::new();
        if asked.fields.is_empty() {
            return is_confirmed("Agree? [y/N] ").await.then_some(answers);
        }
        say!("An empty line leaves a field out, or declines if the server needs it.");
        for field in &asked.fields {
            match ask_field(field).await {
                Some(value) => drop(answers.insert(field.name.clone(), value)),
                None if field.is_optional => {}
                None => {
                    say!("Declined.");
                    return None;
                }
            }
        }
        is_confirmed(&format!("Send this to {}? [y/N] ", reveal_on_one_line(&asked.server)))
            .await
            .then_some(answers)
    }
}

async fn is_confirmed(text: &str) -> bool {
    let line = question::ask(text).await;
    matches!(line.as_deref().map(str::trim), Some("y" | "yes"))
}

/// Returns the value of a field, or `None` if the user leaves it out.
async fn ask_field(field: &QuestionField) -> Option<Value> {
    let hint = match &field.kind {
        FieldKind::Text => String::new(),
        FieldKind::Number => " (a number)".to_owned(),
        FieldKind::Integer => " (a whole number)".to_owned(),
        FieldKind::Switch => " (y or n)".to_owned(),
        FieldKind::Choice(values) => format!(" ({})", reveal_on_one_line(&values.join(", "))),
    };
    loop {
        let line = question::ask(&format!("{}{hint}: ", reveal_on_one_line(&field.label))).await?;
        if line.trim().is_empty() {
            return None;
        }
        if let Some(value) = field.kind.parse(&line) {
            return Some(value);
        }
        say!("That is not one of the values.");
    }
}
