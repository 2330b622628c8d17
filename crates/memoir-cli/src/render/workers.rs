//! What workers did, as text.

use memoir_runtime::{
    operations::workers::{WorkerEntry, WorkerOutcome, WorkerRun, WorkerStop, WorkersReport},
    printable, worker_text,
};
use memoir_workers::BudgetStop;

/// Returns a line for each worker.
pub(crate) fn report(report: &WorkersReport) -> String {
    report.workers.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(entry: &WorkerEntry) -> String {
    let outcome = match &entry.outcome {
        WorkerOutcome::Ran(run) => describe_run(run),
        WorkerOutcome::ModelUnavailable => "its model cannot be called".into(),
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

/// Returns why a worker stopped.
pub(crate) fn describe_stop(stop: WorkerStop) -> &'static str {
    match stop {
        WorkerStop::BudgetSpent => worker_text::why(BudgetStop::Spent),
        WorkerStop::PriceUnknown => worker_text::why(BudgetStop::NoPrice),
        WorkerStop::Failing => "nothing succeeds; the rest is left for later",
    }
}

#[cfg(test)]
mod tests {
    use memoir_core::WorkerKind;

    use super::*;

    #[test]
    fn a_line_has_what_was_done_and_why_it_stopped() {
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
            "exchange_summarizer      3 done, 5 failed (busy), stopped: nothing succeeds; the rest is left for later"
        );
        entry.outcome = WorkerOutcome::SwitchedOff;
        assert_eq!(line(&entry), "exchange_summarizer      switched off");
    }
}
