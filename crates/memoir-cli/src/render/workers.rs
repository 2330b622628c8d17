//! Formats the results of workers.

use memoir_runtime::{
    operations::workers::{WorkerEntry, WorkerOutcome, WorkerRun, WorkerStop, WorkersReport},
    printable, worker_text,
};
use memoir_workers::BudgetStop;

/// Returns one line per worker.
pub(crate) fn report(report: &WorkersReport) -> String {
    report.workers.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(entry: &WorkerEntry) -> String {
    let outcome = match &entry.outcome {
        WorkerOutcome::Ran(run) => describe_run(run),
        WorkerOutcome::ModelUnavailable => "its model is not available".into(),
        WorkerOutcome::SwitchedOff => "switched off".into(),
    };
    format!("{:<24} {outcome}", entry.worker.as_str())
}

fn describe_run(run: &WorkerRun) -> String {
    let mut text = format!("{} done", run.done);
    if run.failed > 0 {
        text.push_str(&format!(", {} failed", run.failed));
    }
    if let Some(error) = &run.last_error {
        text.push_str(&format!(" ({})", printable(error)));
    }
    if let Some(stop) = run.stopped {
        text.push_str(&format!(", stopped: {}", describe_stop(stop)));
    }
    text
}

pub(crate) fn describe_stop(stop: WorkerStop) -> &'static str {
    match stop {
        WorkerStop::BudgetSpent => worker_text::describe_budget_stop(BudgetStop::Spent),
        WorkerStop::PriceUnknown => worker_text::describe_budget_stop(BudgetStop::NoPrice),
        WorkerStop::Failing => "too many jobs failed in a row; the rest will be tried later",
    }
}

#[cfg(test)]
mod tests {
    use memoir_core::WorkerKind;

    use super::*;

    #[test]
    fn line_shows_counts_and_reason_for_stopping() {
        let run = WorkerRun {
            done: 3,
            failed: 5,
            last_error: Some("busy".into()),
            stopped: Some(WorkerStop::Failing),
        };
        let mut entry =
            WorkerEntry { worker: WorkerKind::ExchangeSummarizer, outcome: WorkerOutcome::Ran(run) };
        assert_eq!(
            line(&entry),
            "exchange_summarizer      3 done, 5 failed (busy), stopped: too many jobs failed in a row; the rest will be tried later"
        );
        entry.outcome = WorkerOutcome::SwitchedOff;
        assert_eq!(line(&entry), "exchange_summarizer      switched off");
    }
}
