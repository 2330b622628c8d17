//! Describes the state and progress of workers for the user.

use memoir_core::{Subject, WorkerKind};
use memoir_workers::{BudgetStop, WorkerProgress, WorkerState, WorkerStatus};

use memoir_core::printable;

/// Returns the name and state of a worker in one line. `pending` is the number of jobs to do.
pub fn format_status(status: &WorkerStatus, pending: u64) -> String {
    format!("{:<24} {}", status.worker.as_str(), format_state(status, pending))
}

/// Returns the state of a worker in one line, without its name.
pub fn format_state(status: &WorkerStatus, pending: u64) -> String {
    let state = match status.state {
        WorkerState::Working => format!("working on {}", describe_subjects(&status.current)),
        WorkerState::Idle => "idle".into(),
        WorkerState::Paused => "paused".into(),
        WorkerState::OverBudget(stop) => format!("stopped: {}", describe_budget_stop(stop)),
        WorkerState::Failing(rest) => format!("failing, retrying in {} s", rest.as_secs() + 1),
        WorkerState::Stopped => "stopped".into(),
    };
    let mut line = format!("{state}, {pending} to do, {} done, {} failed", status.completed, status.failed);
    if let Some(error) = &status.last_error {
        line.push_str(&format!(" ({})", printable(error)));
    }
    line
}

/// Returns the result of a step in one line, or `None` if nothing happened.
pub fn format_progress(worker: WorkerKind, progress: &WorkerProgress) -> Option<String> {
    let name = worker.as_str();
    match progress {
        WorkerProgress::Worked { done, failed, error } => {
            let done = (!done.is_empty()).then(|| format!("{} done", describe_subjects(done)));
            let failed = error
                .as_ref()
                .map(|error| format!("{} failed: {}", describe_subjects(failed), printable(error)));
            let parts: Vec<String> = done.into_iter().chain(failed).collect();
            (!parts.is_empty()).then(|| format!("{name}: {}", parts.join(", ")))
        }
        WorkerProgress::OverBudget(stop) => Some(format!("{name}: {}", describe_budget_stop(*stop))),
        WorkerProgress::Idle => None,
    }
}

/// Returns why the daily budget stops a worker.
pub fn describe_budget_stop(stop: BudgetStop) -> &'static str {
    match stop {
        BudgetStop::Spent => "the daily budget has been used up (workers.daily_budget_usd)",
        BudgetStop::NoPrice => "workers.daily_budget_usd is set, but the price of the model is unknown",
    }
}

/// Returns the name of a single subject, or the number of several.
fn describe_subjects(subjects: &[Subject]) -> String {
    match subjects {
        [] => "nothing".into(),
        [subject] => subject.to_string(),
        [first, ..] => format!("{} {}s", subjects.len(), first.kind.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use memoir_core::SubjectKind;

    use super::*;

    #[test]
    fn the_status_shows_current_work_and_the_last_error() {
        let mut worker = WorkerStatus {
            worker: WorkerKind::ExchangeSummarizer,
            state: WorkerState::Working,
            current: vec![Subject::new(SubjectKind::Exchange, 7)],
            completed: 2,
            failed: 1,
            last_error: Some("busy".into()),
        };
        assert_eq!(
            format_status(&worker, 3),
            "exchange_summarizer      working on exchange 7, 3 to do, 2 done, 1 failed (busy)"
        );
        worker.state = WorkerState::Failing(Duration::from_millis(3500));
        assert!(format_status(&worker, 3).contains("failing, retrying in 4 s"));
    }

    #[test]
    fn progress_lists_successes_and_failures() {
        let done = [1, 2].map(|id| Subject::new(SubjectKind::Message, id)).to_vec();
        let failed = vec![Subject::new(SubjectKind::Message, 3)];
        let worked = WorkerProgress::Worked { done, failed, error: Some("refused".into()) };
        let line = format_progress(WorkerKind::EmbeddingGenerator, &worked);
        assert_eq!(line.as_deref(), Some("embedding_generator: 2 messages done, message 3 failed: refused"));
        assert_eq!(format_progress(WorkerKind::EmbeddingGenerator, &WorkerProgress::Idle), None);
    }
}
