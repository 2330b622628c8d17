//! The line above the prompt: model, project, tokens and cost of this session, context, background work and inbox.

use memoir_agent::TurnReport;
use memoir_core::Usd;
use memoir_markdown::truncate_line;
use memoir_runtime::printable;
use memoir_workers::WorkerState;

use crate::{app::App, render::pluralize, screen::text_width};

/// What the turns of this session used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SessionUsage {
    tokens: u64,
    cost: Usd,
    /// Whether a price was unknown.
    is_incomplete: bool,
}

impl SessionUsage {
    pub(crate) fn add(&mut self, report: &TurnReport) {
        self.tokens += report.usage.input_tokens + report.usage.output_tokens;
        match report.cost {
            Some(cost) => self.cost = self.cost + cost,
            None => self.is_incomplete = true,
        }
    }
}

/// Returns the status in one line.
pub(super) fn status_line(app: &App) -> String {
    let session = &app.session;
    let mut parts = vec![session.choice.name.to_string()];
    let project = session.state.conversation.scope().rsplit('/').next().unwrap_or_default();
    parts.extend((!project.is_empty()).then(|| printable(project).into_owned()));
    let SessionUsage { tokens, cost, is_incomplete } = app.usage;
    if tokens > 0 {
        parts.push(format!("{} tokens", short_number(tokens)));
    }
    if cost != Usd::ZERO {
        parts.push(format!("{cost}{}", if is_incomplete { " and more" } else { "" }));
    }
    if let Some(context) = session.last_context.as_ref().filter(|context| context.max_tokens > 0) {
        parts.push(format!("context {} %", context.request_tokens() * 100 / context.max_tokens));
    }
    let statuses = session.background.runner.statuses();
    if let Some(busy) = statuses.iter().find(|status| status.state == WorkerState::Working) {
        parts.push(busy.worker.as_str().to_owned());
    }
    if app.announced.0 > 0 {
        parts.push(pluralize(app.announced.0, "unread report", "unread reports"));
    }
    truncate_line(&parts.join(" · "), text_width())
}

/// Returns a number with three digits at most.
fn short_number(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..10_000 => format!("{}.{}k", number / 1000, number % 1000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_short() {
        let numbers = [0, 999, 1234, 99_999, 1_250_000].map(short_number);
        assert_eq!(numbers, ["0", "999", "1.2k", "99k", "1.2M"]);
    }
}
