//! Redaction for jobs, schedules, settings, permissions, costs and maintenance.

use std::path::Path;

use memoir_core::{
    CallCost, ConversationId, NewTask, Run, RunId, RunOutcome, Subject, Task, TaskId, Timestamp, WorkerKind,
};
use memoir_redact::without_secrets;

use super::delegate;
use crate::{
    Claim, ClaimedJob, CostFilter, CostLine, CostSummary, Job, JobFailure, NewRun, Redaction, Result,
    RunningRun, StoreFault, StoredRule,
};

delegate! { Jobs {
    fn claim(claim: &Claim<'_>, limit: u32) -> Vec<ClaimedJob>;
    fn pending(claim: &Claim<'_>) -> u64;
    fn next_due(worker: WorkerKind, now: Timestamp) -> Option<Timestamp>;
    fn release(worker: WorkerKind, subjects: &[Subject]) -> ();
    fn lease_holders() -> Vec<String>;
    fn renew(owner: &str, until: Timestamp) -> ();
    fn hold_conversation(owner: &str, conversation: Option<ConversationId>, until: Timestamp) -> ();
    fn release_all(owner: &str) -> ();
    fn failed_count() -> u64;
    fn failed_jobs(limit: u32) -> Vec<Job>;
    fn retry_jobs(id: Option<i64>, now: Timestamp) -> u64;
    fn purge_jobs(id: Option<i64>) -> u64;
    fn forget_failures(worker: WorkerKind) -> ();
} clean {
    async fn fail(
        &self,
        worker: WorkerKind,
        subjects: &[Subject],
        failure: &JobFailure,
        now: Timestamp,
    ) -> Result<u64> {
        let clean = JobFailure { error: without_secrets(&failure.error).into_owned(), due: failure.due };
        self.inner.fail(worker, subjects, &clean, now).await
    }
} }

delegate! { Schedules {
    fn tasks() -> Vec<Task>;
    fn task(name: &str) -> Option<Task>;
    fn set_task_paused(id: TaskId, paused: bool, next_due: Option<Timestamp>) -> ();
    fn set_due(id: TaskId, current_due: Timestamp, due: Timestamp) -> ();
    fn remove_task(id: TaskId) -> bool;
    fn due_tasks(now: Timestamp) -> Vec<Task>;
    fn next_task_due() -> Option<Timestamp>;
    fn start_run(new: &NewRun<'_>) -> Option<RunId>;
    fn renew_run(id: RunId, until: Timestamp) -> bool;
    fn running_runs() -> Vec<RunningRun>;
    fn runs(task: Option<TaskId>, limit: u32) -> Vec<Run>;
    fn unread_runs() -> Vec<Run>;
    fn count_unread_runs() -> (u64, Option<RunId>);
    fn mark_read(runs: &[RunId]) -> ();
} clean {
    async fn add_task(&self, new: &NewTask, next_due: Option<Timestamp>, now: Timestamp) -> Result<bool> {
        let clean = NewTask { prompt: without_secrets(&new.prompt).into_owned(), ..new.clone() };
        self.inner.add_task(&clean, next_due, now).await
    }

    async fn end_run(&self, id: RunId, outcome: &RunOutcome, now: Timestamp) -> Result<bool> {
        let clean = RunOutcome {
            report: without_secrets(&outcome.report).into_owned(),
            error: outcome.error.as_deref().map(|error| without_secrets(error).into_owned()),
            ..outcome.clone()
        };
        self.inner.end_run(id, &clean, now).await
    }
} }

delegate! { Settings {
    fn setting(key: &str) -> Option<String>;
    fn settings_in(area: &str) -> Vec<(String, String)>;
    fn set_setting(key: &str, value: Option<&str>, now: Timestamp) -> ();
} }

delegate! { Permissions {
    fn approval_rules(scope: &str) -> Vec<StoredRule>;
    fn add_approval_rule(effect: &str, rule: &str, scope: &str, now: Timestamp) -> ();
    fn remove_approval_rule(id: i64) -> bool;
    fn redactions(limit: u32) -> Vec<Redaction>;
} }

delegate! { Costs {
    fn record_calls(conversation: Option<ConversationId>, calls: &[CallCost]) -> ();
    fn cost_lines(filter: &CostFilter) -> Vec<CostLine>;
    fn conversation_cost(conversation: ConversationId) -> CostSummary;
} }

delegate! { Upkeep {
    fn check() -> Vec<StoreFault>;
    fn check_quickly() -> Vec<StoreFault>;
    fn back_up(to: &Path) -> ();
    fn size() -> u64;
    fn recreate_missing_exchanges() -> u64;
} clean {
    fn schema_version(&self) -> i64 {
        self.inner.schema_version()
    }

    fn damage(&self) -> Option<String> {
        self.inner.damage()
    }
} }
