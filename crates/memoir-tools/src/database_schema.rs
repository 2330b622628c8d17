//! `database_schema`: shows the table definitions of Memoir's own database.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Tool, ToolContext, ToolError, ToolOutput,
    database_query::inspect,
    output::{MAX_TOOL_OUTPUT_BYTES, truncate_output},
    tool::{object, parse},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    table: Option<String>,
}

pub(crate) struct DatabaseSchema;

#[async_trait]
impl Tool for DatabaseSchema {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "database_schema",
            "Show the definition of one or all tables of Memoir's own database.",
            object(
                json!({"table": {"type": "string", "description": "Name of the table; all tables by default."}}),
                &[],
            ),
        )
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { table } = parse(&arguments)?;
        let definitions = inspect(context)?.table_definitions(table.as_deref()).await;
        let definitions = definitions.map_err(|error| ToolError::Failed(error.to_string()))?;
        match table.filter(|_| definitions.is_empty()) {
            Some(table) => {
                Err(ToolError::Failed(format!("there is no table {table}; list them with database_tables")))
            }
            None => Ok(truncate_output(&definitions.join("\n\n"), MAX_TOOL_OUTPUT_BYTES).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn one_or_all_tables_are_shown() {
        let bench = Bench::new().await;
        let one = bench.run(&DatabaseSchema, json!({"table": "messages"})).await.unwrap();
        assert!(one.starts_with("CREATE TABLE messages") && !one.contains("CREATE TABLE exchanges"), "{one}");
        let all = bench.run(&DatabaseSchema, json!({})).await.unwrap();
        assert!(all.contains("CREATE TABLE exchanges") && !all.contains("_index_segments"), "{all}");
        assert!(bench.run(&DatabaseSchema, json!({"table": "nothing"})).await.is_err());
    }
}
