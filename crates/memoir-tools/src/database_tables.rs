//! `database_tables`: lists the tables of Memoir's own database and their sizes.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde_json::{Value, json};

use crate::{Tool, ToolContext, ToolError, ToolOutput, database_query::inspect, output::count};

pub(crate) struct DatabaseTables;

#[async_trait]
impl Tool for DatabaseTables {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "database_tables",
            "List the tables of Memoir's own database with the number of rows in each.",
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        )
    }

    async fn run(&self, _arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let tables =
            inspect(context)?.tables().await.map_err(|error| ToolError::Failed(error.to_string()))?;
        let mut text = String::new();
        for table in tables {
            text.push_str(&format!("{}: {}\n", table.name, count(table.rows, "row")));
        }
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::Timestamp;
    use memoir_store::CommandHistory as _;
    use memoir_store_sqlite::SqliteStore;

    use super::*;
    use crate::testing;

    #[tokio::test]
    async fn tables_and_rows_are_listed() {
        let directory = tempfile::TempDir::new().unwrap();
        let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
        store.append_command("hi", Timestamp::from_millis(1)).await.unwrap();
        let context = testing::context(directory.path(), store);
        let text = DatabaseTables.run(json!({}), &context).await.unwrap().text;
        assert!(text.contains("command_history: 1 row\n") && text.contains("messages: 0 rows\n"), "{text}");
    }
}
