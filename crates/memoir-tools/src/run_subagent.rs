//! `run_subagent`: delegates a task to an agent with its own context.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, DelegationError, Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{MAX_TOOL_OUTPUT_BYTES, truncate_output},
    tool::{object, parse},
};

/// A task for a sub-agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    /// Description of the task. The sub-agent gets no other information.
    pub task: String,
    /// Names of the tools that the sub-agent may call. `None` means all.
    pub tools: Option<Vec<String>>,
    /// Maximum number of rounds of tool calls.
    pub max_turns: Option<u32>,
    /// Maximum cost in dollars.
    pub budget_usd: Option<f64>,
}

/// Runs sub-agents for the `run_subagent` tool. The agent implements it, because tools cannot depend on the agent.
#[async_trait]
pub trait SubagentRunner: Send + Sync {
    /// Runs a sub-agent and returns its report.
    ///
    /// # Errors
    ///
    /// Fails if a tool is unknown or the sub-agent fails.
    async fn delegate(&self, task: Delegation) -> Result<String, DelegationError>;
}

pub(crate) struct RunSubagent;

#[async_trait]
impl Tool for RunSubagent {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "run_subagent",
            "Delegate a self-contained task to a sub-agent with its own context. It sees nothing of this conversation, cannot ask \
             questions, and returns a report. Use it for work that takes many steps whose details do not matter here. It may do \
             whatever is allowed without asking the user; anything else is denied and mentioned in its report.",
            object(
                json!({
                    "task": {"type": "string", "description": "Description of the task, with all the information that it requires."},
                    "tools": {"type": "array", "items": {"type": "string"}, "description": "Names of the tools that the sub-agent may call; all by default."},
                    "max_turns": {"type": "integer", "minimum": 1, "description": "Maximum number of rounds of tool calls."},
                    "budget_usd": {"type": "number", "exclusiveMinimum": 0, "description": "Maximum cost in dollars."}
                }),
                &["task"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let delegation: Delegation = parse(arguments)?;
        if delegation.task.trim().is_empty() {
            return Err(ToolError::Arguments("task is empty; describe what the sub-agent should do".into()));
        }
        if delegation.budget_usd.is_some_and(|budget| !budget.is_finite() || budget <= 0.0) {
            return Err(ToolError::Arguments("budget_usd must be greater than 0".into()));
        }
        if delegation.max_turns == Some(0) {
            return Err(ToolError::Arguments("max_turns must be at least 1".into()));
        }
        Ok(Plan::new(Access::Subagent))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let delegation = parse(&arguments)?;
        let Some(delegate) = &context.subagents else {
            return Err(ToolError::Failed("sub-agents are not available here".into()));
        };
        let report = delegate.delegate(delegation).await?;
        Ok(format!("The sub-agent reports:\n\n{}", truncate_output(&report, MAX_TOOL_OUTPUT_BYTES)).into())
    }
}
