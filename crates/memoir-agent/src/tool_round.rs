//! Running the tools that one reply asked for.

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use memoir_core::ToolCall;
use memoir_models::ToolResult;
use memoir_tools::ToolOutput;

use crate::{Agent, Observer, ToolOutcome, TurnEvent};

/// Runs the calls in order. A call that fails or panics gives its error to the model and harms no other.
pub(crate) async fn run(agent: &Agent, calls: &[ToolCall], observer: Observer<'_>) -> Vec<ToolResult> {
    let mut results = Vec::with_capacity(calls.len());
    for call in calls {
        observer(TurnEvent::ToolStarted(call.clone()));
        let running = agent.tools.run(&call.name, call.arguments.clone(), &agent.tool_context);
        let (text, outcome) = match AssertUnwindSafe(running).catch_unwind().await {
            Ok(Ok(ToolOutput { text, notice })) => {
                if let Some(notice) = notice {
                    observer(TurnEvent::Notice(notice));
                }
                (text, ToolOutcome::Succeeded)
            }
            Ok(Err(error)) => (format!("error: {error}"), ToolOutcome::Failed),
            Err(_) => ("error: the tool crashed".to_owned(), ToolOutcome::Failed),
        };
        observer(TurnEvent::ToolFinished { name: call.name.clone(), outcome });
        results.push(ToolResult { call_id: call.id.clone(), tool_name: call.name.clone(), text });
    }
    results
}
