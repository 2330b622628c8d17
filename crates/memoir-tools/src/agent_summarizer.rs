//! `agent_summarizer`: reports on summaries and writes those that are due.

use std::sync::Arc;

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    tool::{object, parse},
};

/// Reports on summaries and writes them on request.
#[async_trait]
pub trait Summarizer: Send + Sync {
    /// Returns how many summaries are due and how many have failed.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    async fn report(&self) -> Result<String, ToolError>;

    /// Writes the summaries that are due and returns a report.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read or written.
    async fn run(&self) -> Result<String, ToolError>;
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SummaryAction {
    Status,
    Run,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    action: SummaryAction,
}

pub(crate) struct AgentSummarizer(pub(crate) Arc<dyn Summarizer>);

#[async_trait]
impl Tool for AgentSummarizer {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "agent_summarizer",
            "Show the status of the summaries of earlier conversations, or write those that are due. The current conversation is \
             summarized after it ends.",
            object(
                json!({"action": {"type": "string", "enum": ["status", "run"], "description": "status shows the number of summaries that are due; run writes them."}}),
                &["action"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        Ok(match parse(arguments)? {
            ToolArguments { action: SummaryAction::Status } => Plan::default(),
            // Summaries may cost money.
            ToolArguments { action: SummaryAction::Run } => {
                Plan::new(Access::Network("the summarizer".into()))
                    .with_preview("write the summaries that are due")
            }
        })
    }

    async fn run(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { action } = parse(&arguments)?;
        let report = match action {
            SummaryAction::Status => self.0.report().await,
            SummaryAction::Run => self.0.run().await,
        };
        report.map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    struct FakeSummaries;

    #[async_trait]
    impl Summarizer for FakeSummaries {
        async fn report(&self) -> Result<String, ToolError> {
            Ok("2 to do".into())
        }

        async fn run(&self) -> Result<String, ToolError> {
            Err(ToolError::Failed("no room".into()))
        }
    }

    #[tokio::test]
    async fn status_and_run_are_forwarded() {
        let bench = Bench::new().await;
        let tool = AgentSummarizer(Arc::new(FakeSummaries));
        assert_eq!(bench.run(&tool, json!({"action": "status"})).await.unwrap(), "2 to do");
        assert_eq!(bench.run(&tool, json!({"action": "run"})).await.unwrap_err().to_string(), "no room");
        assert!(bench.run(&tool, json!({"action": "dance"})).await.is_err());
    }
}
