//! The line of metrics below an answer.

use memoir_agent::TurnReport;
use memoir_core::Usd;

use crate::render::pluralize;

/// Returns the model, tokens, cost, tool calls and duration of a turn, wrapped to `width`.
pub(crate) fn metrics_line(report: &TurnReport, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in metrics(report) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 3 + part.chars().count() < width => {
                line.push_str(" · ");
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines.join("\n")
}

fn metrics(report: &TurnReport) -> Vec<String> {
    let mut parts = vec![report.model.clone()];
    let usage = report.usage;
    if usage.input_tokens + usage.output_tokens > 0 {
        parts.push(format!("{} in", usage.input_tokens));
        parts.push(format!("{} out", usage.output_tokens));
    }
    if usage.cached_tokens > 0 {
        let share = usage.cached_tokens * 100 / usage.input_tokens.max(1);
        parts.push(format!("{} cached ({share} %)", usage.cached_tokens));
    }
    match report.cost {
        Some(Usd::ZERO) => {}
        Some(cost) => {
            let unpriced_note = if report.conversation_cost.unpriced_calls > 0 { " and more" } else { "" };
            parts.push(format!("{cost} (conversation {}{unpriced_note})", report.conversation_cost.cost));
        }
        None => parts.push("price unknown".into()),
    }
    match report.recalled.len() {
        0 => {}
        count => parts.push(format!("{count} recalled")),
    }
    match report.tool_call_count {
        0 => {}
        count => parts.push(pluralize(count, "tool call", "tool calls")),
    }
    #[expect(clippy::cast_precision_loss, reason = "the duration is only displayed")]
    let seconds = report.duration_ms as f64 / 1000.0;
    parts.push(format!("{seconds:.1} s"));
    parts
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, ExchangeId, ExchangeStatus, RecalledPassages, Usage};
    use memoir_models::StopReason;
    use memoir_store::CostSummary;

    use super::*;

    fn report() -> TurnReport {
        TurnReport {
            conversation_id: ConversationId::new(3),
            exchange_id: ExchangeId::new(7),
            status: ExchangeStatus::Completed,
            stop: StopReason::Done,
            text: "hi".into(),
            recalled: RecalledPassages::default(),
            context: None,
            model: "openai/gpt-5-mini".into(),
            usage: Usage { input_tokens: 120, output_tokens: 8, cached_tokens: 64, ..Usage::default() },
            cost: Some(Usd::from_nanos(1_200_000)),
            request_count: 2,
            tool_call_count: 1,
            duration_ms: 1234,
            conversation_cost: CostSummary { cost: Usd::from_nanos(3_400_000), ..CostSummary::default() },
        }
    }

    #[test]
    fn metrics_line_shows_tokens_cost_and_duration() {
        insta::assert_snapshot!(
            metrics_line(&report(), 200),
            @"openai/gpt-5-mini · 120 in · 8 out · 64 cached (53 %) · $0.0012 (conversation $0.0034) · 1 tool call · 1.2 s"
        );
        let unpriced = TurnReport { cost: None, tool_call_count: 0, ..report() };
        insta::assert_snapshot!(metrics_line(&unpriced, 200), @"openai/gpt-5-mini · 120 in · 8 out · 64 cached (53 %) · price unknown · 1.2 s");
    }
}
