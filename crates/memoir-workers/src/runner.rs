//! Runs workers during a conversation. Each can be started and stopped by name, and all are paused while a turn runs.

use std::collections::HashMap;

use memoir_core::{WorkerKind, lock};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    WorkerContext,
    run::all_workers,
    status::{WorkerRecord, WorkerState, WorkerStatus},
    worker_loop::{Listener, SharedState, WorkerLoop},
};

struct RunningWorker {
    stop: CancellationToken,
    /// Whether the worker has noticed the pause.
    is_waiting: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

impl RunningWorker {
    async fn join(self) {
        if let Err(error) = self.task.await {
            // A worker that panicked has stopped too.
            tracing::warn!(%error, "a worker panicked");
        }
    }
}

/// Runs the workers of a process.
pub struct Runner {
    shared: SharedState,
    pause: watch::Sender<bool>,
    running: HashMap<WorkerKind, RunningWorker>,
}

impl Runner {
    /// Creates a runner without starting any worker. `listener` is called after each step of a worker.
    pub fn new(context: WorkerContext, listener: Option<Listener>) -> Self {
        Self {
            shared: SharedState::new(context, listener),
            pause: watch::Sender::new(false),
            running: HashMap::new(),
        }
    }

    /// Returns the state that the workers share.
    pub fn context(&self) -> &WorkerContext {
        &self.shared.context
    }

    /// Starts a worker. Does nothing if it is already running.
    pub fn start(&mut self, kind: WorkerKind) {
        if self.running.get(&kind).is_some_and(|running| !running.task.is_finished()) {
            return;
        }
        let Some(worker) = all_workers().into_iter().find(|worker| worker.kind() == kind) else { return };
        let stop = CancellationToken::new();
        let (report_waiting, is_waiting) = watch::channel(false);
        let worker_loop = WorkerLoop {
            shared: self.shared.clone(),
            kind,
            pause: self.pause.subscribe(),
            retry_requests: self.shared.retry_requests.subscribe(),
            stop: stop.clone(),
            report_waiting,
            failures_in_a_row: 0,
            rests_until: None,
            interrupted: Vec::new(),
        };
        // The status must show the worker as running as soon as this function returns.
        self.shared.update(kind, |record| record.state = WorkerState::Idle);
        let task = tokio::spawn(worker_loop.work(worker));
        self.running.insert(kind, RunningWorker { stop, is_waiting, task });
    }

    /// Stops a worker, even in the middle of a model call, and releases its jobs.
    pub async fn stop(&mut self, kind: WorkerKind) {
        if let Some(running) = self.running.remove(&kind) {
            running.stop.cancel();
            running.join().await;
        }
    }

    /// Stops all workers and releases their jobs.
    pub async fn stop_all(&mut self) {
        self.running.values().for_each(|running| running.stop.cancel());
        for (_, running) in self.running.drain() {
            running.join().await;
        }
    }

    /// Pauses all workers and waits until they no longer call models or write.
    pub async fn pause(&self) {
        self.pause.send_replace(true);
        for (kind, running) in &self.running {
            let mut is_waiting = running.is_waiting.clone();
            if is_waiting.wait_for(|is_waiting| *is_waiting).await.is_err() {
                tracing::debug!(worker = ?kind, "no pause is needed: the worker has ended");
            }
        }
    }

    /// Resumes all workers after [`Runner::pause`].
    pub fn resume(&self) {
        self.pause.send_replace(false);
    }

    /// Makes the workers look for jobs now.
    pub fn wake(&self) {
        self.running.keys().for_each(|kind| self.shared.wake(*kind));
    }

    /// Makes the workers retry now, even if they are resting after a failure.
    pub fn retry_now(&self) {
        self.shared.retry_requests.send_modify(|count| *count += 1);
        self.wake();
    }

    /// Returns the status of every worker, whether it is running or not.
    pub fn statuses(&self) -> Vec<WorkerStatus> {
        let records = lock(&self.shared.records);
        WorkerKind::ALL
            .into_iter()
            .map(|kind| records.get(&kind).cloned().unwrap_or_else(WorkerRecord::new).status(kind))
            .collect()
    }
}
