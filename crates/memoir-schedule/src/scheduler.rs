//! Beginning what is due, once, whoever looks.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use memoir_core::{Clock, Run, RunId, RunOutcome, RunState, Task, Timestamp};
use memoir_store::{NewRun, Store, StoreError, is_dead};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::next_due;

/// So often it is looked whether anything has changed: someone else may have added a task.
const LOOK: Duration = Duration::from_secs(15);

/// So long is rested at least.
const REST: Duration = Duration::from_millis(200);

/// After its time a run is believed to be over; so much longer it may take to say so.
const GRACE: i64 = 5 * 60 * 1000;

/// A moment further ahead than this was set by a clock that was wrong.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Who does the work.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Does what a task asks for, within its time, and says what came of it.
    async fn run(&self, task: &Task, run: RunId, cancel: &CancellationToken) -> RunOutcome;
}

/// A run that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    /// The task.
    pub task: Task,
    /// The run.
    pub run: RunId,
}

/// What happens while tasks are looked after.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A run has begun.
    Began(Begun),
    /// It is over.
    Ended(Begun, RunOutcome),
    /// It was cut off by a crash, earlier.
    WasCutOff(Run),
    /// Something could not be done; it is tried again.
    Trouble(String),
}

/// Looks after tasks.
#[derive(Clone)]
pub struct Scheduler {
    /// Where they are kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who we are.
    pub owner: String,
}

impl Scheduler {
    /// Begins everything that is due: what was missed, once. The rest is done by [`Scheduler::perform`].
    pub async fn begin_due(&self) -> Result<Vec<Begun>, StoreError> {
        let now = self.clock.now();
        self.set_right(now).await?;
        let mut begun = Vec::new();
        for task in self.store.due_tasks(now).await? {
            let Some(moment) = task.next_due else { continue };
            // Whatever the clock does, a moment does not come twice.
            let after = now.max(moment);
            let next = next_due(&task.what.schedule, after).unwrap_or(None);
            if let Some(run) = self.begin(&task, Some(moment), next, now).await? {
                begun.push(Begun { task, run });
            }
        }
        Ok(begun)
    }

    /// Begins a run at once, whenever it is due. Nothing, if the task is at it already.
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
        let timeout = i64::try_from(task.what.timeout_seconds).unwrap_or(i64::MAX / 2000) * 1000;
        let until = Timestamp::from_millis(now.as_millis().saturating_add(timeout).saturating_add(GRACE));
        let new = NewRun { task: task.id, scheduled_for, next_due, owner: &self.owner, now, until };
        self.store.begin_run(&new).await
    }

    /// Does a run that has begun, and notes what came of it.
    pub async fn perform(
        &self,
        begun: &Begun,
        engine: &dyn Engine,
        cancel: &CancellationToken,
    ) -> Result<RunOutcome, StoreError> {
        let outcome = engine.run(&begun.task, begun.run, cancel).await;
        self.store.end_run(begun.run, &outcome, self.clock.now()).await?;
        Ok(outcome)
    }

    /// Marks what was cut off by a crash, and says what that was.
    pub async fn recover(&self) -> Result<Vec<Run>, StoreError> {
        let now = self.clock.now();
        let mut cut_off = Vec::new();
        for running in self.store.running_runs().await? {
            if running.until <= now || is_dead(&running.owner, &self.owner) {
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
        let runs = self.store.runs(None, 1000).await?;
        Ok(runs.into_iter().filter(|run| cut_off.contains(&run.id)).collect())
    }

    /// A clock that was years ahead for a while has set tasks for then; they are due when they would be now.
    async fn set_right(&self, now: Timestamp) -> Result<(), StoreError> {
        for task in self.store.tasks().await? {
            let Some(due) = task.next_due.filter(|_| !task.paused) else { continue };
            let Some(would_be) = next_due(&task.what.schedule, now).unwrap_or(None) else { continue };
            let last = self.store.runs(Some(task.id), 1).await?.into_iter().next();
            let ran_ahead =
                last.is_some_and(|run| run.started.as_millis() > now.as_millis().saturating_add(DAY));
            if ran_ahead && due > would_be {
                self.store.set_task(task.id, false, Some(would_be)).await?;
            }
        }
        Ok(())
    }

    /// Looks after tasks until it is cancelled: what is due is begun, each in its own time, and what goes on then is stopped.
    pub async fn look_after(
        &self,
        engine: Arc<dyn Engine>,
        cancel: &CancellationToken,
        told: &mut (dyn FnMut(Event) + Send),
    ) {
        let mut running: JoinSet<(Begun, Result<RunOutcome, StoreError>)> = JoinSet::new();
        while !cancel.is_cancelled() {
            match self.recover().await {
                Ok(cut_off) => cut_off.into_iter().for_each(|run| told(Event::WasCutOff(run))),
                Err(error) => told(Event::Trouble(error.to_string())),
            }
            match self.begin_due().await {
                Ok(begun) => {
                    for begun in begun {
                        told(Event::Began(begun.clone()));
                        let (this, engine, cancel) = (self.clone(), Arc::clone(&engine), cancel.clone());
                        running.spawn(async move {
                            let outcome = this.perform(&begun, engine.as_ref(), &cancel).await;
                            (begun, outcome)
                        });
                    }
                }
                Err(error) => told(Event::Trouble(error.to_string())),
            }
            let rest = self.rest().await;
            tokio::select! {
                () = cancel.cancelled() => {}
                Some(ended) = running.join_next(), if !running.is_empty() => tell(ended, told),
                () = tokio::time::sleep(rest) => {}
            }
        }
        // They notice it themselves, and say what came of them.
        while let Some(ended) = running.join_next().await {
            tell(ended, told);
        }
    }

    /// How long nothing is due.
    async fn rest(&self) -> Duration {
        let now = self.clock.now();
        let due = self.store.next_task_due().await.ok().flatten();
        let left = due.map_or(u64::MAX, |due| u64::try_from(due.as_millis() - now.as_millis()).unwrap_or(0));
        Duration::from_millis(left).clamp(REST, LOOK)
    }
}

/// Tells how a run ended.
fn tell(
    ended: Result<(Begun, Result<RunOutcome, StoreError>), tokio::task::JoinError>,
    told: &mut (dyn FnMut(Event) + Send),
) {
    match ended {
        Ok((begun, Ok(outcome))) => told(Event::Ended(begun, outcome)),
        Ok((begun, Err(error))) => {
            told(Event::Trouble(format!(
                "what came of {} could not be noted: {error}",
                begun.task.what.name
            )));
        }
        Err(error) => told(Event::Trouble(format!("a run crashed: {error}"))),
    }
}
