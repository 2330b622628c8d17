//! What the background does, in words.

use memoir_core::{Subject, WorkerKind};
use memoir_workers::{BudgetStop, WorkerProgress, WorkerState, WorkerStatus};

use crate::printable::printable;

/// How a worker is getting on, in a line. `pending` is how much there is to do.
pub fn status(known: &WorkerStatus, pending: u64) -> String {
    format!("{:<24} {}", known.worker.as_str(), state(known, pending))
}

/// The same without its name.
pub fn state(status: &WorkerStatus, pending: u64) -> String {
    let state = match status.state {
        WorkerState::Working => format!("working on {}", several(&status.current)),
        WorkerState::Idle => "idle".into(),
        WorkerState::Paused => "paused".into(),
        WorkerState::Overspent(broke) => format!("stopped: {}", why(broke)),
        WorkerState::Troubled(rest) => format!("in trouble, tries again in {} s", rest.as_secs() + 1),
        WorkerState::Stopped => "stopped".into(),
    };
    let mut line = format!("{state}, {pending} to do, {} done, {} failed", status.completed, status.failed);
    if let Some(error) = &status.last_error {
        line.push_str(&format!(" ({})", printable(error)));
    }
    line
}

/// What happened in the background, in a line, if it is worth one.
pub fn progress(worker: WorkerKind, progress: &WorkerProgress) -> Option<String> {
    let name = worker.as_str();
    match progress {
        WorkerProgress::Worked { done, failed, error } => {
            let done = (!done.is_empty()).then(|| format!("{} done", several(done)));
            let failed =
                error.as_ref().map(|error| format!("{} failed: {}", several(failed), printable(error)));
            let told: Vec<String> = done.into_iter().chain(failed).collect();
            (!told.is_empty()).then(|| format!("{name}: {}", told.join(", ")))
        }
        WorkerProgress::OverBudget(broke) => Some(format!("{name}: {}", why(*broke))),
        WorkerProgress::Idle => None,
    }
}

/// Why nothing more may be spent.
pub fn why(broke: BudgetStop) -> &'static str {
    match broke {
        BudgetStop::Spent => "what may be spent today is spent (workers.daily_budget_usd)",
        BudgetStop::NoPrice => "workers.daily_budget_usd is set, and the price of the model is not known",
    }
}

/// One by its name, several by their number.
fn several(subjects: &[Subject]) -> String {
    match subjects {
        [] => "nothing".into(),
        [one] => one.to_string(),
        [first, ..] => format!("{} {}s", subjects.len(), first.kind.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use memoir_core::SubjectKind;

    use super::*;

    #[test]
    fn a_line_says_what_is_going_on_and_what_went_wrong() {
        let mut known = WorkerStatus {
            worker: WorkerKind::ExchangeSummarizer,
            state: WorkerState::Working,
            current: vec![Subject::new(SubjectKind::Exchange, 7)],
            completed: 2,
            failed: 1,
            last_error: Some("busy".into()),
        };
        assert_eq!(
            status(&known, 3),
            "exchange_summarizer      working on exchange 7, 3 to do, 2 done, 1 failed (busy)"
        );
        known.state = WorkerState::Troubled(Duration::from_millis(3500));
        assert!(status(&known, 3).contains("in trouble, tries again in 4 s"));
    }

    #[test]
    fn only_what_happened_is_told() {
        let two = [1, 2].map(|id| Subject::new(SubjectKind::Message, id)).to_vec();
        let one = vec![Subject::new(SubjectKind::Message, 3)];
        let worked = WorkerProgress::Worked { done: two, failed: one, error: Some("refused".into()) };
        let told = progress(WorkerKind::EmbeddingGenerator, &worked);
        assert_eq!(told.as_deref(), Some("embedding_generator: 2 messages done, message 3 failed: refused"));
        assert_eq!(progress(WorkerKind::EmbeddingGenerator, &WorkerProgress::Idle), None);
    }
}
