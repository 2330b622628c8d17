//! The result of an answer, for people.

use memoir_agent::TurnReport;
use memoir_core::Usd;

/// The line under an answer: who, tokens, cost, tools, time. Where it does not fit the width, it goes on in the next line.
pub(crate) fn metrics_line(report: &TurnReport, width: usize) -> String {
    let mut text = String::new();
    let mut taken = 0;
    for part in metrics(report) {
        let length = part.chars().count();
        match taken {
            0 => {}
            taken_now if taken_now + 3 + length < width => {
                text.push_str(" · ");
                taken += 3;
            }
            _ => {
                text.push('\n');
                taken = 0;
            }
        }
        text.push_str(&part);
        taken += length;
    }
    text
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
            let unpriced = if report.conversation_cost.unpriced_calls > 0 { " and more" } else { "" };
            parts.push(format!("{cost} (conversation {}{unpriced})", report.conversation_cost.cost));
        }
        None => parts.push("price unknown".into()),
    }
    match report.recalled.len() {
        0 => {}
        1 => parts.push("1 recalled".into()),
        several => parts.push(format!("{several} recalled")),
    }
    match report.tool_call_count {
        0 => {}
        1 => parts.push("1 tool call".into()),
        several => parts.push(format!("{several} tool calls")),
    }
    #[expect(clippy::cast_precision_loss, reason = "a duration for reading")]
    let seconds = report.duration_ms as f64 / 1000.0;
    parts.push(format!("{seconds:.1} s"));
    parts
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, ExchangeId, ExchangeStatus, Recalled, Usage};
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
            recalled: Recalled::default(),
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
    fn the_metrics_line_says_what_it_took() {
        insta::assert_snapshot!(
            metrics_line(&report(), 200),
            @"openai/gpt-5-mini · 120 in · 8 out · 64 cached (53 %) · $0.0012 (conversation $0.0034) · 1 tool call · 1.2 s"
        );
        let unpriced = TurnReport { cost: None, tool_call_count: 0, ..report() };
        insta::assert_snapshot!(metrics_line(&unpriced, 200), @"openai/gpt-5-mini · 120 in · 8 out · 64 cached (53 %) · price unknown · 1.2 s");
    }
}
