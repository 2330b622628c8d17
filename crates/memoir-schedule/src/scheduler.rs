//! Starts each run that is due exactly once, even if several processes share the store.

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

/// So often it is looked whether anything has changed: someone else may have added a task.
const LOOK: Duration = Duration::from_secs(15);

/// So long is rested at least.
const REST: Duration = Duration::from_millis(200);

/// So long a run of another machine's is believed to go on without a word.
const LEASE: i64 = 5 * 60 * 1000;

/// So often a word is given.
const RENEW: Duration = Duration::from_secs(60);

/// A clock that is so much behind what it was has been set.
const JUMP: i64 = 60 * 1000;

/// How often it is tried to note what came of a run: it was paid for.
const TRIES: u32 = 5;

/// A moment further ahead than this comes from a clock that was wrong.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Executes runs.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Executes a run within the time limit of its task and returns the outcome.
    async fn run(&self, task: &Task, run: RunId, cancel: &CancellationToken) -> RunOutcome;
}

/// A run that has started.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    /// The task.
    pub task: Task,
    /// The run.
    pub run: RunId,
}

/// What happens while the scheduler runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A run has started.
    Began(Begun),
    /// A run has ended.
    Ended(Begun, RunOutcome),
    /// A run was interrupted by an earlier crash.
    WasCutOff(Run),
    /// Something failed and is retried.
    Trouble(String),
}

/// Starts tasks on their schedule.
#[derive(Clone)]
pub struct Scheduler {
    /// Where tasks and runs are stored.
    pub store: Arc<dyn Schedules>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The owner of the leases of this process.
    pub owner: String,
    /// Returns whether the owner of a run is running, or `None` if that cannot be known.
    is_alive: fn(&str) -> Option<bool>,
    /// The latest time the clock has shown, to notice when it is set back.
    latest: Arc<AtomicI64>,
}

/// The runs that were started, and why others were not.
#[derive(Debug, Default)]
pub struct Due {
    /// Runs that were started.
    pub begun: Vec<Begun>,
    /// Errors, as messages for the user.
    pub trouble: Vec<String>,
}

impl Scheduler {
    /// Creates a scheduler for the tasks of a store.
    pub fn new(
        store: Arc<dyn Schedules>,
        clock: Arc<dyn Clock>,
        owner: impl Into<String>,
        is_alive: fn(&str) -> Option<bool>,
    ) -> Self {
        Self { store, clock, owner: owner.into(), is_alive, latest: Arc::new(AtomicI64::new(i64::MAX)) }
    }

    /// Starts every run that is due. A task that missed several times is started once. [`Scheduler::perform`] executes the runs.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read. The error of a single task is part of the result.
    pub async fn begin_due(&self) -> Result<Due, StoreError> {
        let now = self.clock.now();
        let before = self.latest.swap(now.as_millis(), Ordering::SeqCst);
        if before == i64::MAX || now.as_millis() < before - JUMP {
            self.set_right(now).await?;
        }
        let mut due = Due::default();
        for task in self.store.due_tasks(now).await? {
            let Some(moment) = task.next_due else { continue };
            // Whatever the clock does, a moment does not come twice.
            let begun = match next_due(&task.what.schedule, now.max(moment)) {
                Ok(next) => {
                    self.begin(&task, Some(moment), next, now).await.map_err(|error| error.to_string())
                }
                Err(error) => Err(error.to_string()),
            };
            match begun {
                Ok(Some(run)) => due.begun.push(Begun { task, run }),
                Ok(None) => {}
                // What has begun is done all the same.
                Err(error) => due.trouble.push(format!("{} cannot begin: {error}", task.what.name)),
            }
        }
        Ok(due)
    }

    /// Starts a run now, regardless of the schedule. Returns `None` if the task is already running.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn begin_now(&self, task: &Task) -> Result<Option<Begun>, StoreError> {
        let begun = self.begin(task, None, None, self.clock.now()).await?;
        Ok(begun.map(|run| Begun { task: task.clone(), run }))
    }

    async fn begin(
        &self,
        task: &Task,
        scheduled_for: Option<Timestamp>,
        next_due: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Option<RunId>, StoreError> {
        let until = lease_from(now);
        let new = NewRun { task: task.id, scheduled_for, next_due, owner: &self.owner, now, until };
        self.store.begin_run(&new).await
    }

    /// Executes a run that was started and stores its outcome.
    ///
    /// # Errors
    ///
    /// Fails if the outcome cannot be stored after several attempts. A run that fails or panics is an outcome, not an error.
    pub async fn perform(
        &self,
        begun: &Begun,
        engine: &dyn Engine,
        cancel: &CancellationToken,
    ) -> Result<RunOutcome, StoreError> {
        let working = AssertUnwindSafe(engine.run(&begun.task, begun.run, cancel)).catch_unwind();
        tokio::pin!(working);
        let mut renew = tokio::time::interval_at(tokio::time::Instant::now() + RENEW, RENEW);
        let outcome = loop {
            tokio::select! {
                outcome = &mut working => break outcome,
                _ = renew.tick() => {
                    if let Err(error) = self.store.renew_run(begun.run, lease_from(self.clock.now())).await {
                        // The lease lasts for several intervals, so the next attempt is early enough.
                        tracing::warn!(%error, run = begun.run.get(), "the lease of a run was not renewed");
                    }
                }
            }
        };
        let outcome = outcome.unwrap_or_else(|_| RunOutcome {
            state: RunState::Failed,
            report: String::new(),
            error: Some("it crashed".into()),
            cost: None,
        });
        let mut tries = 0;
        loop {
            tries += 1;
            match self.store.end_run(begun.run, &outcome, self.clock.now()).await {
                Ok(_) => return Ok(outcome),
                Err(error) if tries >= TRIES => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, run = begun.run.get(), tries, "the outcome of a run was not stored; retrying");
                    tokio::time::sleep(Duration::from_millis(200 << tries)).await;
                }
            }
        }
    }

    /// Marks runs that were interrupted by a crash, and returns them.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read or written.
    pub async fn recover(&self) -> Result<Vec<Run>, StoreError> {
        let now = self.clock.now();
        let mut cut_off = Vec::new();
        for running in self.store.running_runs().await? {
            // Of this machine it is known who lives; a lease may have run out while the machine slept.
            let is_over = running.owner != self.owner
                && (self.is_alive)(&running.owner).map_or(running.until <= now, |is_alive| !is_alive);
            if is_over {
                let outcome = RunOutcome {
                    state: RunState::CutOff,
                    report: String::new(),
                    error: Some("its program ended before it did".into()),
                    cost: None,
                };
                if self.store.end_run(running.id, &outcome, now).await? {
                    cut_off.push(running.id);
                }
            }
        }
        if cut_off.is_empty() {
            return Ok(Vec::new());
        }
        let runs = self.store.runs(None, 1000).await?;
        Ok(runs.into_iter().filter(|run| cut_off.contains(&run.id)).collect())
    }

    /// A clock that was ahead for a while has set tasks for then; they are due when they would be now. What had its run does not come
    /// again.
    async fn set_right(&self, now: Timestamp) -> Result<(), StoreError> {
        for task in self.store.tasks().await? {
            let Some(due) = task.next_due.filter(|_| !task.paused) else { continue };
            let last = self.store.runs(Some(task.id), 1).await?.into_iter().next();
            let had = last.and_then(|run| run.scheduled_for);
            let had = had.filter(|had| had.as_millis() < now.as_millis().saturating_add(DAY));
            let after = had.map_or(now, |had| had.max(now));
            match next_due(&task.what.schedule, after) {
                Ok(Some(would_be)) if would_be < due => self.store.set_due(task.id, due, would_be).await?,
                // What cannot be told is left as it is.
                _ => {}
            }
        }
        Ok(())
    }

    /// Runs tasks until it is cancelled, then stops those that are running. Calls `observe` for every event.
    pub async fn look_after(
        &self,
        engine: Arc<dyn Engine>,
        cancel: &CancellationToken,
        observe: &mut (dyn FnMut(Event) + Send),
    ) {
        let mut running: JoinSet<(Begun, Result<RunOutcome, StoreError>)> = JoinSet::new();
        while !cancel.is_cancelled() {
            match self.recover().await {
                Ok(cut_off) => cut_off.into_iter().for_each(|run| observe(Event::WasCutOff(run))),
                Err(error) => observe(Event::Trouble(error.to_string())),
            }
            let is_well = match self.begin_due().await {
                Ok(Due { begun, trouble }) => {
                    let is_well = trouble.is_empty();
                    trouble.into_iter().for_each(|trouble| observe(Event::Trouble(trouble)));
                    for begun in begun {
                        observe(Event::Began(begun.clone()));
                        let (this, engine, cancel) = (self.clone(), Arc::clone(&engine), cancel.clone());
                        running.spawn(async move {
                            let outcome = this.perform(&begun, engine.as_ref(), &cancel).await;
                            (begun, outcome)
                        });
                    }
                    is_well
                }
                Err(error) => {
                    observe(Event::Trouble(error.to_string()));
                    false
                }
            };
            let rest = if is_well { self.time_until_due().await } else { LOOK };
            tokio::select! {
                () = cancel.cancelled() => {}
                Some(ended) = running.join_next(), if !running.is_empty() => report_end(ended, observe),
                () = tokio::time::sleep(rest) => {}
            }
        }
        // They notice it themselves, and say what came of them.
        while let Some(ended) = running.join_next().await {
            report_end(ended, observe);
        }
    }

    /// Returns how long to rest until the next task may be due.
    async fn time_until_due(&self) -> Duration {
        let now = self.clock.now();
        let due = self.store.next_task_due().await.unwrap_or_else(|error| {
            // The scheduler looks again after the longest rest anyway.
            tracing::debug!(%error, "the time of the next task is unknown");
            None
        });
        let left = due.map_or(u64::MAX, |due| u64::try_from(due.as_millis() - now.as_millis()).unwrap_or(0));
        Duration::from_millis(left).clamp(REST, LOOK)
    }
}

/// Until when a run is believed to go on.
fn lease_from(now: Timestamp) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_add(LEASE))
}

/// Reports how a run ended.
fn report_end(
    ended: Result<(Begun, Result<RunOutcome, StoreError>), tokio::task::JoinError>,
    observe: &mut (dyn FnMut(Event) + Send),
) {
    match ended {
        Ok((begun, Ok(outcome))) => observe(Event::Ended(begun, outcome)),
        Ok((begun, Err(error))) => {
            observe(Event::Trouble(format!(
                "what came of {} could not be noted: {error}",
                begun.task.what.name
            )));
        }
        Err(error) => observe(Event::Trouble(format!("a run crashed: {error}"))),
    }
}
