//! What the model may ask to run.

use memoir_core::{ToolSpec, count_tokens};
use memoir_models::ModelLimits;

use super::{budget::Budget, notices::Notices, window};
use crate::active_turn::ActiveTurn;

impl ActiveTurn<'_> {
    /// All tools or none: a model that is offered some of them misses the others without knowing.
    pub(crate) fn offered_tools(
        self,
        limits: &ModelLimits,
        budget: &mut Budget,
        notices: &mut Notices,
    ) -> (Vec<ToolSpec>, u64) {
        let tools = self.state.tools.specs();
        if limits.tools == Some(false) || tools.is_empty() {
            return (Vec::new(), 0);
        }
        let needed = tools.iter().map(tool_tokens).sum::<u64>();
        if needed > budget.part(3).min(budget.left()) {
            notices.lasting.push(format!(
                "The tools were left out: they would take {needed} of the {} tokens that a request has; {}.",
                budget.room,
                budget.how_to_change()
            ));
            return (Vec::new(), 0);
        }
        (tools, budget.grant(needed))
    }
}

/// What a tool's description takes.
fn tool_tokens(tool: &ToolSpec) -> u64 {
    let schema = count_tokens(&tool.parameters.to_string()) + count_tokens(&tool.description);
    (schema + count_tokens(&tool.name)) as u64 + 2 * window::PER_MESSAGE
}
