//! The loop of one worker: it claims jobs until it is stopped, and rests when there are none or when one fails.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use memoir_core::{Subject, WorkerKind, lock};
use memoir_store::StoreError;
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    WorkerContext, WorkerProgress, backoff,
    status::{WorkerRecord, WorkerState},
    worker::{BackgroundWorker, CurrentWork},
};

/// How often a worker looks for jobs without being woken.
const POLL: Duration = Duration::from_secs(30);

/// How long a worker waits after it was started, so that it does not slow down the start of the program.
const START_DELAY: Duration = Duration::from_millis(300);

/// Looking for texts to embed takes memory that a program which was just started does not need.
const EMBEDDING_START_DELAY: Duration = Duration::from_secs(3);

/// Called after each step of a worker.
pub type Listener = Arc<dyn Fn(WorkerKind, &WorkerProgress) + Send + Sync>;

/// What the runner and the loops of its workers share.
#[derive(Clone)]
pub(crate) struct SharedState {
    pub(crate) context: WorkerContext,
    pub(crate) records: Arc<Mutex<HashMap<WorkerKind, WorkerRecord>>>,
    /// Counts how often the workers were told to retry at once.
    pub(crate) hurries: watch::Sender<u64>,
    wakes: Arc<HashMap<WorkerKind, Notify>>,
    listener: Option<Listener>,
}

impl SharedState {
    pub(crate) fn new(context: WorkerContext, listener: Option<Listener>) -> Self {
        let wakes = WorkerKind::ALL.into_iter().map(|kind| (kind, Notify::new())).collect();
        Self {
            context,
            records: Arc::default(),
            hurries: watch::Sender::new(0),
            wakes: Arc::new(wakes),
            listener,
        }
    }

    /// Changes what is recorded about a worker.
    pub(crate) fn update(&self, kind: WorkerKind, change: impl FnOnce(&mut WorkerRecord)) {
        change(lock(&self.records).entry(kind).or_insert_with(WorkerRecord::new));
    }

    /// Makes a worker look for jobs now.
    pub(crate) fn wake(&self, kind: WorkerKind) {
        if let Some(wake) = self.wakes.get(&kind) {
            wake.notify_one();
        }
    }

    /// Waits until a worker is woken.
    async fn wait_for_wake(&self, kind: WorkerKind) {
        match self.wakes.get(&kind) {
            Some(wake) => wake.notified().await,
            None => std::future::pending().await,
        }
    }
}

/// The loop of one worker.
pub(crate) struct WorkerLoop {
    pub(crate) shared: SharedState,
    pub(crate) kind: WorkerKind,
    pub(crate) pause: watch::Receiver<bool>,
    pub(crate) hurries: watch::Receiver<u64>,
    pub(crate) stop: CancellationToken,
    /// Reports to the runner that the worker has noticed a pause.
    pub(crate) waits: watch::Sender<bool>,
    /// Number of failures in a row.
    pub(crate) troubles: u32,
    /// End of the rest after a failure. Waking the worker does not end it; [`SharedState::hurries`] does.
    pub(crate) rests_until: Option<Instant>,
    /// Jobs that a pause has interrupted. Their leases are kept, so that the worker resumes with them.
    pub(crate) interrupted: Vec<Subject>,
}

impl WorkerLoop {
    /// Claims and processes jobs until the worker is stopped.
    pub(crate) async fn work(mut self, worker: &'static dyn BackgroundWorker) {
        let embeds = self.kind == WorkerKind::EmbeddingGenerator;
        self.rest(if embeds { EMBEDDING_START_DELAY } else { START_DELAY }).await;
        while !self.stop.is_cancelled() {
            if *self.pause.borrow_and_update() {
                if self.wait_for_resume().await {
                    continue;
                }
                break;
            }
            if let Some(until) = self.rests_until.filter(|until| *until > Instant::now()) {
                tokio::select! {
                    () = self.stop.cancelled() => {}
                    _ = self.pause.wait_for(|paused| *paused) => {}
                    _ = self.hurries.changed() => self.rests_until = None,
                    () = tokio::time::sleep_until(until) => {}
                }
                continue;
            }
            if let Some(rest) = self.step(worker).await {
                self.rest(rest).await;
            }
        }
        self.release_interrupted().await;
        self.shared.update(self.kind, |record| record.state = WorkerState::Stopped);
    }

    /// Releases the jobs that were interrupted.
    async fn release_interrupted(&mut self) {
        let interrupted = std::mem::take(&mut self.interrupted);
        if let Err(error) = self.shared.context.jobs().release(self.kind, &interrupted).await {
            // Another process releases them once it notices that this one has ended.
            tracing::warn!(worker = ?self.kind, %error, "interrupted jobs were not released");
        }
    }

    /// Waits while the workers are paused. Returns whether the worker may continue.
    async fn wait_for_resume(&mut self) -> bool {
        self.shared.update(self.kind, |record| record.state = WorkerState::Paused);
        self.waits.send_replace(true);
        let continues = tokio::select! {
            () = self.stop.cancelled() => false,
            resumed = self.pause.wait_for(|paused| !*paused) => resumed.is_ok(),
        };
        self.waits.send_replace(false);
        self.shared.update(self.kind, |record| record.state = WorkerState::Idle);
        continues
    }

    /// Waits for `time`, or until the worker is woken, paused or stopped.
    async fn rest(&mut self, time: Duration) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            _ = self.pause.wait_for(|paused| *paused) => {}
            () = self.shared.wait_for_wake(self.kind) => {}
            () = tokio::time::sleep(time) => {}
        }
    }

    /// Processes one job or batch, unless it is stopped or paused meanwhile. Returns how long to rest.
    async fn step(&mut self, worker: &'static dyn BackgroundWorker) -> Option<Duration> {
        let (kind, current) = (self.kind, CurrentWork::default());
        self.shared.update(kind, |record| record.current = current.clone());
        let outcome = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            _ = self.pause.wait_for(|paused| *paused) => None,
            outcome = worker.step(&self.shared.context, &current) => Some(outcome),
        };
        let subjects = current.get();
        current.set(Vec::new());
        let Some(outcome) = outcome else {
            self.interrupted = subjects;
            return None;
        };
        self.interrupted.clear();
        if let (Some(listener), Ok(progress)) = (&self.shared.listener, &outcome) {
            listener(kind, progress);
        }
        self.record(outcome).await
    }

    /// Records the outcome of a step. Returns how long to rest.
    async fn record(&mut self, outcome: Result<WorkerProgress, StoreError>) -> Option<Duration> {
        let kind = self.kind;
        match outcome {
            Ok(WorkerProgress::Worked { done, failed, error }) => {
                self.shared.update(kind, |record| {
                    record.completed += done.len() as u64;
                    record.failed += failed.len() as u64;
                    record.last_error = error.clone().or(record.last_error.take());
                });
                match error {
                    Some(error) if done.is_empty() => self.rest_after_failure(error),
                    _ => {
                        (self.troubles, self.rests_until) = (0, None);
                        self.shared.update(kind, |record| {
                            (record.state, record.rests_until) = (WorkerState::Idle, None);
                        });
                    }
                }
                if kind != WorkerKind::EmbeddingGenerator && !done.is_empty() {
                    // There is a summary without an embedding now.
                    self.shared.wake(WorkerKind::EmbeddingGenerator);
                }
                // A job that neither succeeded nor failed is not claimed again at once.
                if done.is_empty() && failed.is_empty() { Some(self.time_until_due().await) } else { None }
            }
            Ok(WorkerProgress::Idle) => {
                self.shared.update(kind, |record| record.state = WorkerState::Idle);
                if let Err(error) = self.shared.context.release_dead_leases().await {
                    // The leases expire by themselves.
                    tracing::debug!(%error, "the leases of dead processes were not released");
                }
                Some(self.time_until_due().await)
            }
            Ok(WorkerProgress::OverBudget(stop)) => {
                self.shared.update(kind, |record| record.state = WorkerState::Overspent(stop));
                Some(POLL)
            }
            Err(error) => {
                tracing::warn!(worker = ?kind, %error, "a step failed and is retried");
                self.rest_after_failure(error.to_string());
                None
            }
        }
    }

    /// Starts a rest that grows with every failure in a row, so that a server that is down is not called all the time.
    fn rest_after_failure(&mut self, error: String) {
        let until = Instant::now() + backoff::rest(self.troubles);
        self.troubles += 1;
        self.rests_until = Some(until);
        // An earlier request to hurry does not end this rest.
        self.hurries.mark_unchanged();
        self.shared.update(self.kind, |record| {
            (record.state, record.rests_until, record.last_error) =
                (WorkerState::Idle, Some(until), Some(error));
        });
    }

    /// Returns the time until the next retry is due, at most [`POLL`].
    async fn time_until_due(&self) -> Duration {
        let now = self.shared.context.clock.now();
        match self.shared.context.jobs().next_due(self.kind, now).await {
            Ok(Some(due)) => {
                Duration::from_millis(due.millis_since(now)).clamp(Duration::from_millis(100), POLL)
            }
            Ok(None) => POLL,
            Err(error) => {
                // The worker polls anyway.
                tracing::debug!(worker = ?self.kind, %error, "the time of the next retry is unknown");
                POLL
            }
        }
    }
}
