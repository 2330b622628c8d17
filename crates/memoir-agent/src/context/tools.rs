//! The tool layer: offers all tools, or none if they would take too much of a request.

use memoir_core::{ToolSpec, count_tokens};
use memoir_models::ModelLimits;

use super::{budget::Budget, notices::Notices, window};
use crate::active_turn::ActiveTurn;

impl ActiveTurn<'_> {
    /// Returns the tools to offer, and their size in tokens. Offers all tools or none, because a model would not know
    /// which tools are missing.
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
        if needed > budget.fraction(3).min(budget.remaining()) {
            notices.recurring.push(format!(
                "The tools were omitted: they would take {needed} of the {} tokens of a request. {}",
                budget.room,
                budget.advice()
            ));
            return (Vec::new(), 0);
        }
        (tools, budget.grant(needed))
    }
}

fn tool_tokens(tool: &ToolSpec) -> u64 {
    let schema = count_tokens(&tool.parameters.to_string()) + count_tokens(&tool.description);
    (schema + count_tokens(&tool.name)) as u64 + 2 * window::TOKENS_PER_MESSAGE
}
