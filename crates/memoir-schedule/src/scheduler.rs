//! Starts each due run exactly once, even if several processes share the store.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::FutureExt as _;
use memoir_core::{Clock, Run, RunId, RunOutcome, RunState, Task, Timestamp};
use memoir_store::{NewRun, Schedules, StoreError};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::next_due;

/// Maximum time between two checks for due tasks, because another process may add one.
const POLL: Duration = Duration::from_secs(15);

/// Minimum time between two checks.
const MIN_REST: Duration = Duration::from_millis(200);

/// Duration of a lease. A run on another machine whose lease has expired is considered dead.
const LEASE_MS: i64 = 5 * 60 * 1000;

/// Time between two renewals of a lease.
const RENEW_INTERVAL: Duration = Duration::from_secs(60);

/// If the clock goes back by more than this, it has been set.
const CLOCK_JUMP_MS: i64 = 60 * 1000;

/// Maximum number of attempts to store the outcome of a run, which may have cost money.
const MAX_STORE_ATTEMPTS: u32 = 5;

/// A run scheduled further ahead than this was recorded while the clock was wrong.
const MAX_AHEAD_MS: i64 = 24 * 60 * 60 * 1000;

/// Executes the runs that a [`Scheduler`] starts.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Executes a run within the time limit of its task and returns the outcome.
    async fn run(&self, task: &Task, run: RunId, cancel: &CancellationToken) -> RunOutcome;
}

/// A run that has started.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedRun {
    /// The task that the run belongs to.
    pub task: Task,
    /// Id under which the outcome is stored.
    pub run: RunId,
}

/// An event reported by [`Scheduler::run_until_cancelled`].
#[derive(Debug, Clone, PartialEq)]
pub enum SchedulerEvent {
    /// A run has started.
    Started(StartedRun),
    /// A run has ended.
    Ended(StartedRun, RunOutcome),
    /// A run of a process that has ended was marked as interrupted.
    Interrupted(Run),
    /// Something failed, with a message for the user.
    Failed(String),
}

/// Starts tasks on their schedule.
#[derive(Clone)]
pub struct Scheduler {
    /// Where tasks and runs are stored.
    pub store: Arc<dyn Schedules>,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Owner name of this process's leases.
    pub owner: String,
    /// Returns whether the owner of a run is still running, or `None` if that is unknown.
    is_alive: fn(&str) -> Option<bool>,
    /// Time of the last check, to detect a clock that was set back.
    last_check: Arc<AtomicI64>,
}

/// The result of [`Scheduler::start_due`].
#[derive(Debug, Default)]
pub struct DueRuns {
    /// Runs that were started.
    pub started: Vec<StartedRun>,
    /// One message for the user per run that could not be started.
    pub errors: Vec<String>,
}

impl Scheduler {
    /// Creates a scheduler for the tasks of a store.
    pub fn new(
        store: Arc<dyn Schedules>,
        clock: Arc<dyn Clock>,
        owner: impl Into<String>,
        is_alive: fn(&str) -> Option<bool>,
    ) -> Self {
        Self { store, clock, owner: owner.into(), is_alive, last_check: Arc::new(AtomicI64::new(i64::MAX)) }
    }

    /// Starts every due run. A task that missed several runs is started once. [`Scheduler::execute`] executes the runs.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read. Errors of single tasks are part of the result.
    pub async fn start_due(&self) -> Result<DueRuns, StoreError> {
        let now = self.clock.now();
        let last_check = self.last_check.swap(now.as_millis(), Ordering::SeqCst);
        if last_check == i64::MAX || now.as_millis() < last_check - CLOCK_JUMP_MS {
            self.correct_due_times(now).await?;
        }
        let mut due_runs = DueRuns::default();
        for task in self.store.due_tasks(now).await? {
            let Some(moment) = task.next_due else { continue };
            // Use the later of both times, so that no run is repeated after the clock was set back.
            let result = match next_due(&task.definition.schedule, now.max(moment)) {
                Ok(next) => {
                    self.start(&task, Some(moment), next, now).await.map_err(|error| error.to_string())
                }
                Err(error) => Err(error.to_string()),
            };
            match result {
                Ok(Some(run)) => due_runs.started.push(StartedRun { task, run }),
                Ok(None) => {}
                // The runs that did start must still be returned.
                Err(error) => {
                    due_runs.errors.push(format!("{} could not be started: {error}", task.definition.name))
                }
            }
        }
        Ok(due_runs)
    }

    /// Starts a run now, regardless of the schedule. Returns `None` if the task is already running.
    pub async fn start_now(&self, task: &Task) -> Result<Option<StartedRun>, StoreError> {
        let run = self.start(task, None, None, self.clock.now()).await?;
        Ok(run.map(|run| StartedRun { task: task.clone(), run }))
    }

    async fn start(
        &self,
        task: &Task,
        scheduled_for: Option<Timestamp>,
        next_due: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Option<RunId>, StoreError> {
        let until = lease_end(now);
        let new = NewRun { task: task.id, scheduled_for, next_due, owner: &self.owner, now, until };
        self.store.start_run(&new).await
    }

    /// Executes a started run and stores its outcome.
    ///
    /// # Errors
    ///
    /// Fails if the outcome cannot be stored after several attempts. A run that fails or panics is an outcome, not an
    /// error.
    pub async fn execute(
        &self,
        started: &StartedRun,
        engine: &dyn Engine,
        cancel: &CancellationToken,
    ) -> Result<RunOutcome, StoreError> {
        let execution = AssertUnwindSafe(engine.run(&started.task, started.run, cancel)).catch_unwind();
        tokio::pin!(execution);
        let first_renewal = tokio::time::Instant::now() + RENEW_INTERVAL;
        let mut renew = tokio::time::interval_at(first_renewal, RENEW_INTERVAL);
        let outcome = loop {
            tokio::select! {
                outcome = &mut execution => break outcome,
                _ = renew.tick() => {
                    if let Err(error) = self.store.renew_run(started.run, lease_end(self.clock.now())).await {
                        // The lease lasts for several intervals, so the next attempt is early enough.
                        tracing::warn!(%error, run = started.run.get(), "could not renew the lease of a run");
                    }
                }
            }
        };
        let outcome = outcome.unwrap_or_else(|_| RunOutcome {
            state: RunState::Failed,
            report: String::new(),
            error: Some("the run crashed".into()),
            cost: None,
        });
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.store.end_run(started.run, &outcome, self.clock.now()).await {
                Ok(_) => return Ok(outcome),
                Err(error) if attempts >= MAX_STORE_ATTEMPTS => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, run = started.run.get(), attempts, "could not store the outcome of a run; retrying");
                    tokio::time::sleep(Duration::from_millis(200 << attempts)).await;
                }
            }
        }
    }

    /// Marks runs whose process has ended as interrupted and returns them.
    pub async fn recover(&self) -> Result<Vec<Run>, StoreError> {
        let now = self.clock.now();
        let mut interrupted = Vec::new();
        for running in self.store.running_runs().await? {
            // Trust the lease only for other machines: it may have expired while this one was suspended.
            let is_interrupted = running.owner != self.owner
                && (self.is_alive)(&running.owner).map_or(running.until <= now, |is_alive| !is_alive);
            if is_interrupted {
                let outcome = RunOutcome {
                    state: RunState::Interrupted,
                    report: String::new(),
                    error: Some("the process ended before the run did".into()),
                    cost: None,
                };
                if self.store.end_run(running.id, &outcome, now).await? {
                    interrupted.push(running.id);
                }
            }
        }
        if interrupted.is_empty() {
            return Ok(Vec::new());
        }
        let runs = self.store.runs(None, 1000).await?;
        Ok(runs.into_iter().filter(|run| interrupted.contains(&run.id)).collect())
    }

    /// Moves up due times that were computed while the clock was ahead. A time that already had its run is not
    /// repeated.
    async fn correct_due_times(&self, now: Timestamp) -> Result<(), StoreError> {
        for task in self.store.tasks().await? {
            let Some(due) = task.next_due.filter(|_| !task.paused) else { continue };
            let last_run = self.store.runs(Some(task.id), 1).await?.into_iter().next();
            let latest_plausible = now.as_millis().saturating_add(MAX_AHEAD_MS);
            let last_time = last_run.and_then(|run| run.scheduled_for);
            let last_time = last_time.filter(|time| time.as_millis() < latest_plausible);
            let after = last_time.map_or(now, |time| time.max(now));
            match next_due(&task.definition.schedule, after) {
                Ok(Some(corrected)) if corrected < due => {
                    self.store.set_due(task.id, due, corrected).await?;
                }
                // Keep the due time if it is right, or if no better one is known.
                _ => {}
            }
        }
        Ok(())
    }

    /// Runs tasks until `cancel` is cancelled, then stops the running ones. Calls `observe` for every event.
    pub async fn run_until_cancelled(
        &self,
        engine: Arc<dyn Engine>,
        cancel: &CancellationToken,
        observe: &mut (dyn FnMut(SchedulerEvent) + Send),
    ) {
        let mut running: JoinSet<(StartedRun, Result<RunOutcome, StoreError>)> = JoinSet::new();
        while !cancel.is_cancelled() {
            match self.recover().await {
                Ok(interrupted) => {
                    interrupted.into_iter().for_each(|run| observe(SchedulerEvent::Interrupted(run)))
                }
                Err(error) => observe(SchedulerEvent::Failed(error.to_string())),
            }
            let all_started = match self.start_due().await {
                Ok(DueRuns { started: runs, errors }) => {
                    let all_started = errors.is_empty();
                    errors.into_iter().for_each(|error| observe(SchedulerEvent::Failed(error)));
                    for started in runs {
                        observe(SchedulerEvent::Started(started.clone()));
                        let (this, engine, cancel) = (self.clone(), Arc::clone(&engine), cancel.clone());
                        running.spawn(async move {
                            let outcome = this.execute(&started, engine.as_ref(), &cancel).await;
                            (started, outcome)
                        });
                    }
                    all_started
                }
                Err(error) => {
                    observe(SchedulerEvent::Failed(error.to_string()));
                    false
                }
            };
            let rest = if all_started { self.time_until_due().await } else { POLL };
            tokio::select! {
                () = cancel.cancelled() => {}
                Some(result) = running.join_next(), if !running.is_empty() => report_end(result, observe),
                () = tokio::time::sleep(rest) => {}
            }
        }
        // Every run watches `cancel` and ends by itself.
        while let Some(result) = running.join_next().await {
            report_end(result, observe);
        }
    }

    /// Returns the time until the next task is due, at least [`MIN_REST`] and at most [`POLL`].
    async fn time_until_due(&self) -> Duration {
        let now = self.clock.now();
        let due = self.store.next_task_due().await.unwrap_or_else(|error| {
            // The scheduler checks again after `POLL` anyway.
            tracing::debug!(%error, "could not read when the next task is due");
            None
        });
        let millis =
            due.map_or(u64::MAX, |due| u64::try_from(due.as_millis() - now.as_millis()).unwrap_or(0));
        Duration::from_millis(millis).clamp(MIN_REST, POLL)
    }
}

fn lease_end(now: Timestamp) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_add(LEASE_MS))
}

/// Reports the end of a run to `observe`.
fn report_end(
    result: Result<(StartedRun, Result<RunOutcome, StoreError>), tokio::task::JoinError>,
    observe: &mut (dyn FnMut(SchedulerEvent) + Send),
) {
    match result {
        Ok((started, Ok(outcome))) => observe(SchedulerEvent::Ended(started, outcome)),
        Ok((started, Err(error))) => {
            observe(SchedulerEvent::Failed(format!(
                "the outcome of {} could not be stored: {error}",
                started.task.definition.name
            )));
        }
        Err(error) => observe(SchedulerEvent::Failed(format!("a task crashed: {error}"))),
    }
}
