//! `run_subagent`: hands a bounded task to an agent with a context of its own.

use async_trait::async_trait;
use memoir_core::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, DelegationError, Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{LONGEST_OUTPUT, cap},
    tool::{object, parse},
};

/// A task for a sub-agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    /// What is to be done: all that the sub-agent knows.
    pub task: String,
    /// The tools that it gets; all if left out.
    pub tools: Option<Vec<String>>,
    /// How many rounds of tool calls it may take.
    pub max_turns: Option<u32>,
    /// What it may cost, in dollars.
    pub budget_usd: Option<f64>,
}

/// Runs sub-agents.
#[async_trait]
pub trait Delegating: Send + Sync {
    /// Runs a sub-agent and returns its report.
    ///
    /// # Errors
    ///
    /// Fails if a tool is unknown or the sub-agent fails.
    async fn delegate(&self, work: Delegation) -> Result<String, DelegationError>;
}

pub(crate) struct RunSubagent;

#[async_trait]
impl Tool for RunSubagent {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "run_subagent",
            "Hand a bounded piece of work to a sub-agent with a context of its own: it sees nothing of this conversation, cannot ask, \
             and gives back a report. Good for work that takes many steps and whose details do not matter here. It may do what is \
             allowed without asking; the rest is refused and said in its report.",
            object(
                json!({
                    "task": {"type": "string", "description": "What is to be done, with everything that must be known for it."},
                    "tools": {"type": "array", "items": {"type": "string"}, "description": "The tools it gets, by name; all if left out."},
                    "max_turns": {"type": "integer", "minimum": 1, "description": "How many rounds of tool calls it may take."},
                    "budget_usd": {"type": "number", "exclusiveMinimum": 0, "description": "What it may cost, in dollars."}
                }),
                &["task"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, _context: &ToolContext) -> Result<Plan, ToolError> {
        let work: Delegation = parse(arguments)?;
        if work.task.trim().is_empty() {
            return Err(ToolError::Arguments("say in task what is to be done".into()));
        }
        if work.budget_usd.is_some_and(|budget| !budget.is_finite() || budget <= 0.0) {
            return Err(ToolError::Arguments("budget_usd must be more than nothing".into()));
        }
        if work.max_turns == Some(0) {
            return Err(ToolError::Arguments("max_turns must be at least 1".into()));
        }
        Ok(Plan::new(Access::Subagent))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let work = parse(&arguments)?;
        let Some(delegate) = &context.delegate else {
            return Err(ToolError::Failed("there are no sub-agents here".into()));
        };
        let report = delegate.delegate(work).await?;
        Ok(format!("The sub-agent reports:\n\n{}", cap(&report, LONGEST_OUTPUT)).into())
    }
}
