//! The loop of one worker, which processes jobs until it is stopped, and rests when none is due or one fails.

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

/// Delay before a new worker looks for jobs, to keep program startup fast.
const START_DELAY: Duration = Duration::from_millis(300);

/// The same delay for the embedding worker. It is longer because finding texts to embed takes a lot of memory.
const EMBEDDING_START_DELAY: Duration = Duration::from_secs(3);

/// Called after each step of a worker.
pub type Listener = Arc<dyn Fn(WorkerKind, &WorkerProgress) + Send + Sync>;

/// The state that a [`crate::Runner`] shares with the loops of its workers.
#[derive(Clone)]
pub(crate) struct SharedState {
    pub(crate) context: WorkerContext,
    pub(crate) records: Arc<Mutex<HashMap<WorkerKind, WorkerRecord>>>,
    /// Number of requests to retry immediately. A change ends every rest.
    pub(crate) retry_requests: watch::Sender<u64>,
    wakes: Arc<HashMap<WorkerKind, Notify>>,
    listener: Option<Listener>,
}

impl SharedState {
    pub(crate) fn new(context: WorkerContext, listener: Option<Listener>) -> Self {
        let wakes = WorkerKind::ALL.into_iter().map(|kind| (kind, Notify::new())).collect();
        Self {
            context,
            records: Arc::default(),
            retry_requests: watch::Sender::new(0),
            wakes: Arc::new(wakes),
            listener,
        }
    }

    pub(crate) fn update(&self, kind: WorkerKind, change: impl FnOnce(&mut WorkerRecord)) {
        change(lock(&self.records).entry(kind).or_insert_with(WorkerRecord::new));
    }

    /// Makes a worker look for jobs now.
    pub(crate) fn wake(&self, kind: WorkerKind) {
        if let Some(wake) = self.wakes.get(&kind) {
            wake.notify_one();
        }
    }

    async fn wait_until_woken(&self, kind: WorkerKind) {
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
    pub(crate) retry_requests: watch::Receiver<u64>,
    pub(crate) stop: CancellationToken,
    /// Tells the runner whether the worker is waiting for a pause to end.
    pub(crate) report_waiting: watch::Sender<bool>,
    pub(crate) failures_in_a_row: u32,
    /// End of the rest after a failure. Only [`SharedState::retry_requests`] ends it earlier; waking the worker does not.
    pub(crate) rests_until: Option<Instant>,
    /// Jobs that a pause interrupted. The worker keeps their leases and resumes them.
    pub(crate) interrupted: Vec<Subject>,
}

impl WorkerLoop {
    /// Claims and processes jobs until the worker is stopped.
    pub(crate) async fn work(mut self, worker: &'static dyn BackgroundWorker) {
        let is_embedder = self.kind == WorkerKind::EmbeddingGenerator;
        self.rest(if is_embedder { EMBEDDING_START_DELAY } else { START_DELAY }).await;
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
                    _ = self.retry_requests.changed() => self.rests_until = None,
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

    async fn release_interrupted(&mut self) {
        let interrupted = std::mem::take(&mut self.interrupted);
        if let Err(error) = self.shared.context.jobs().release(self.kind, &interrupted).await {
            // Another process releases them once this one has ended.
            tracing::warn!(worker = ?self.kind, %error, "could not release interrupted jobs");
        }
    }

    /// Waits until the pause ends. Returns `false` if the worker was stopped instead.
    async fn wait_for_resume(&mut self) -> bool {
        self.shared.update(self.kind, |record| record.state = WorkerState::Paused);
        self.report_waiting.send_replace(true);
        let is_resumed = tokio::select! {
            () = self.stop.cancelled() => false,
            resumed = self.pause.wait_for(|paused| !*paused) => resumed.is_ok(),
        };
        self.report_waiting.send_replace(false);
        self.shared.update(self.kind, |record| record.state = WorkerState::Idle);
        is_resumed
    }

    /// Waits for `time`, or until the worker is woken, paused or stopped.
    async fn rest(&mut self, time: Duration) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            _ = self.pause.wait_for(|paused| *paused) => {}
            () = self.shared.wait_until_woken(self.kind) => {}
            () = tokio::time::sleep(time) => {}
        }
    }

    /// Processes one job or batch unless the worker is stopped or paused. Returns how long to rest.
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
                        (self.failures_in_a_row, self.rests_until) = (0, None);
                        self.shared.update(kind, |record| {
                            (record.state, record.rests_until) = (WorkerState::Idle, None);
                        });
                    }
                }
                if kind != WorkerKind::EmbeddingGenerator && !done.is_empty() {
                    // The new summary needs an embedding.
                    self.shared.wake(WorkerKind::EmbeddingGenerator);
                }
                // Do not claim a job that neither succeeded nor failed again immediately.
                if done.is_empty() && failed.is_empty() { Some(self.time_until_due().await) } else { None }
            }
            Ok(WorkerProgress::Idle) => {
                self.shared.update(kind, |record| record.state = WorkerState::Idle);
                if let Err(error) = self.shared.context.release_dead_leases().await {
                    // The leases will expire.
                    tracing::debug!(%error, "could not release the leases of dead processes");
                }
                Some(self.time_until_due().await)
            }
            Ok(WorkerProgress::OverBudget(stop)) => {
                self.shared.update(kind, |record| record.state = WorkerState::OverBudget(stop));
                Some(POLL)
            }
            Err(error) => {
                tracing::warn!(worker = ?kind, %error, "a step failed and will be retried");
                self.rest_after_failure(error.to_string());
                None
            }
        }
    }

    /// Starts a rest that doubles with each failure in a row, to spare a server that is down.
    fn rest_after_failure(&mut self, error: String) {
        let until = Instant::now() + backoff::rest(self.failures_in_a_row);
        self.failures_in_a_row += 1;
        self.rests_until = Some(until);
        // A request to retry_now made before this failure must not end the rest.
        self.retry_requests.mark_unchanged();
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
                tracing::debug!(worker = ?self.kind, %error, "could not read the time of the next retry");
                POLL
            }
        }
    }
}
