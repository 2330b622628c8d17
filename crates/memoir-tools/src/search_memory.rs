//! `search_memory`: searches conversations and documents.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use memoir_recall::{QueryKind, describe_backlog, find_dates, format_recollection};
use memoir_store::Filter;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Tool, ToolContext, ToolError, ToolOutput};

const MAX_EXCHANGES: usize = 30;

const MAX_TOKENS: u64 = 6000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    query: String,
    since: Option<String>,
    limit: Option<usize>,
}

pub(crate) struct SearchMemory;

#[async_trait]
impl Tool for SearchMemory {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "search_memory",
            "Search earlier conversations and the user's documents, by keyword and by meaning.",
            json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "A few keywords or a question."},
                    "since": {"type": "string", "description": "Return only messages from this day on: 2026-05-01, yesterday, last week, in May."},
                    "limit": {"type": "integer", "minimum": 1, "description": "Maximum number of exchanges; 10 by default."}
                },
                "required": ["query"],
                "additionalProperties": false
            }),
        )
    }

    async fn run(&self, arguments: Value, tools: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { query, since, limit } =
            serde_json::from_value(arguments).map_err(|error| ToolError::Arguments(error.to_string()))?;
        let mut recall = tools.recall.clone();
        let since = match &since {
            None => None,
            Some(text) => match find_dates(text, recall.clock.now(), &recall.zone) {
                Some(dates) => Some(dates.start),
                None => return Err(ToolError::Arguments(format!("\"{text}\" is not a date"))),
            },
        };
        let limit = limit.unwrap_or(recall.settings.exchange_capacity).clamp(1, MAX_EXCHANGES);
        // Limit the passages, not the finished text: truncating it could cut off the closing fence.
        recall.settings.token_budget = MAX_TOKENS;
        recall.settings.exchange_capacity = limit;
        recall.settings.exchanges_per_conversation = limit;
        recall.settings.conversation_limit = limit;
        let results = recall.ask(&query, QueryKind::Search, Filter { since, ..Filter::default() }).await;
        let mut text: String = results.notices.iter().map(|notice| format!("{notice}\n")).collect();
        match format_recollection(&results, recall.scope.as_deref(), &recall.zone) {
            Some(passages) => text.push_str(&passages),
            None => text.push_str("Nothing in memory about this."),
        }
        if results.pending_embeddings > 0 {
            text.push_str(&format!(" {}", describe_backlog(results.pending_embeddings)));
        }
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_store::{Exchanges as _, contract};
    use memoir_store_sqlite::SqliteStore;

    use super::*;
    use crate::testing;

    #[tokio::test]
    async fn passages_are_fenced_and_missing_ones_reported() {
        let directory = tempfile::TempDir::new().unwrap();
        let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
        let draft = contract::exchange("The boiler was serviced by Olaf", "Noted", 1_700_000_000_000);
        store.commit_exchange(&contract::new_conversation("the boiler", "/p"), &draft).await.unwrap();
        let context = testing::context(directory.path(), store);
        let run = async |arguments| SearchMemory.run(arguments, &context).await.map(|output| output.text);
        let text = run(json!({"query": "boiler service"})).await.unwrap();
        assert!(text.contains("- User: The boiler was serviced by Olaf"), "{text}");
        assert!(text.contains("<memory>") && text.ends_with("</memory>"), "{text}");
        let later = run(json!({"query": "boiler service", "since": "2024-01-01"})).await.unwrap();
        assert_eq!(later, "Nothing in memory about this.");
        let error = run(json!({"query": "boiler", "since": "soonish"})).await.unwrap_err().to_string();
        assert!(error.contains("\"soonish\" is not a date"), "{error}");
        assert!(matches!(run(json!({})).await, Err(ToolError::Arguments(_))));
    }
}
