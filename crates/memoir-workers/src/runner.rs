//! Workers that run beside the talk: started and stopped by name, paused while a turn runs.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use memoir_core::WorkerKind;
use memoir_store::StoreError;
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Office, Progress,
    worker::{Current, Worker, all},
};

/// How often work is looked for without being told that there is any.
const POLL: Duration = Duration::from_secs(30);

/// After a failure of the store's, work is looked for again after so long.
const AFTER_TROUBLE: Duration = Duration::from_secs(5);

/// A worker that was started begins after so long.
const FIRST_REST: Duration = Duration::from_millis(300);

/// What a worker is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It works.
    Working,
    /// There is nothing to do.
    Idle,
    /// It was told to wait.
    Paused,
    /// What may be spent today is spent.
    Overspent,
    /// It does not run.
    Stopped,
}

/// How a worker is getting on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Which one.
    pub worker: WorkerKind,
    /// What it does.
    pub state: State,
    /// How much it has done since it was started.
    pub completed: u64,
    /// How often it has failed.
    pub failed: u64,
    /// Why it failed last.
    pub last_error: Option<String>,
}

impl Status {
    fn new(worker: WorkerKind) -> Self {
        Self { worker, state: State::Stopped, completed: 0, failed: 0, last_error: None }
    }
}

struct Running {
    stop: CancellationToken,
    wake: Arc<Notify>,
    /// Whether it is waiting, as it was told.
    waits: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

/// The workers of a process.
pub struct Runner {
    office: Office,
    pause: watch::Sender<bool>,
    running: HashMap<WorkerKind, Running>,
    statuses: Arc<Mutex<HashMap<WorkerKind, Status>>>,
}

impl Runner {
    /// Workers of `office`; none runs yet.
    pub fn new(office: Office) -> Self {
        Self { office, pause: watch::Sender::new(false), running: HashMap::new(), statuses: Arc::default() }
    }

    /// What they share.
    pub fn office(&self) -> &Office {
        &self.office
    }

    /// Starts a worker; one that runs goes on.
    pub fn start(&mut self, kind: WorkerKind) {
        if self.running.get(&kind).is_some_and(|running| !running.task.is_finished()) {
            return;
        }
        let Some(worker) = all().into_iter().find(|worker| worker.kind() == kind) else { return };
        let (stop, wake) = (CancellationToken::new(), Arc::new(Notify::new()));
        let (says, waits) = watch::channel(false);
        let desk = Desk {
            office: self.office.clone(),
            pause: self.pause.subscribe(),
            stop: stop.clone(),
            wake: Arc::clone(&wake),
            waits: says,
            statuses: Arc::clone(&self.statuses),
        };
        let task = tokio::spawn(desk.work(worker));
        self.running.insert(kind, Running { stop, wake, waits, task });
    }

    /// Stops a worker, in the middle of a call too; what it was at is given back.
    pub async fn stop(&mut self, kind: WorkerKind) {
        if let Some(running) = self.running.remove(&kind) {
            running.stop.cancel();
            let _ = running.task.await;
        }
    }

    /// Stops all of them.
    pub async fn stop_all(&mut self) {
        self.running.values().for_each(|running| running.stop.cancel());
        for (_, running) in self.running.drain() {
            let _ = running.task.await;
        }
    }

    /// Makes all of them wait, and comes back when they do: then nothing is called or written.
    pub async fn pause(&self) {
        self.pause.send_replace(true);
        for running in self.running.values() {
            let mut waits = running.waits.clone();
            // One that has ended waits for ever.
            let _ = waits.wait_for(|waits| *waits).await;
        }
    }

    /// Lets them go on.
    pub fn resume(&self) {
        self.pause.send_replace(false);
    }

    /// Tells them that there may be work.
    pub fn wake(&self) {
        self.running.values().for_each(|running| running.wake.notify_one());
    }

    /// How each is getting on.
    pub fn statuses(&self) -> Vec<Status> {
        let known = self.statuses.lock().unwrap_or_else(PoisonError::into_inner);
        WorkerKind::ALL.map(|kind| known.get(&kind).cloned().unwrap_or_else(|| Status::new(kind))).to_vec()
    }
}

/// Where one worker sits.
struct Desk {
    office: Office,
    pause: watch::Receiver<bool>,
    stop: CancellationToken,
    wake: Arc<Notify>,
    waits: watch::Sender<bool>,
    statuses: Arc<Mutex<HashMap<WorkerKind, Status>>>,
}

impl Desk {
    async fn work(mut self, worker: &'static dyn Worker) {
        let kind = worker.kind();
        self.note(kind, |status| status.state = State::Idle);
        // Starting up comes first.
        let first_rest = if worker.waits_for_a_signal() { Duration::MAX } else { FIRST_REST };
        self.rest(first_rest).await;
        while !self.stop.is_cancelled() {
            if *self.pause.borrow_and_update() {
                self.note(kind, |status| status.state = State::Paused);
                self.waits.send_replace(true);
                tokio::select! {
                    () = self.stop.cancelled() => break,
                    resumed = self.pause.wait_for(|paused| !*paused) => {
                        if resumed.is_err() {
                            break;
                        }
                    }
                }
                self.waits.send_replace(false);
                continue;
            }
            let rest = self.step(worker).await;
            if let Some(rest) = rest {
                self.rest(rest).await;
            }
        }
        self.note(kind, |status| status.state = State::Stopped);
    }

    /// Waits until there may be work, or something else to heed.
    async fn rest(&mut self, time: Duration) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            _ = self.pause.wait_for(|paused| *paused) => {}
            () = self.wake.notified() => {}
            () = tokio::time::sleep(time) => {}
        }
    }

    /// Does one piece, unless it is stopped or paused in the middle: then it is given back. Says how long to rest.
    async fn step(&mut self, worker: &'static dyn Worker) -> Option<Duration> {
        let (kind, current) = (worker.kind(), Current::default());
        let came = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            _ = self.pause.wait_for(|paused| *paused) => None,
            came = worker.step(&self.office, &current) => Some(came),
        };
        let Some(came) = came else {
            if let Some(subject) = current.get() {
                // If even this fails, the lease runs out.
                let _ = self.office.store.release(kind, subject).await;
            }
            return None;
        };
        match came {
            Ok(Progress::Done) => self.note(kind, |status| {
                (status.state, status.completed) = (State::Working, status.completed + 1);
            }),
            Ok(Progress::Failed(error)) => self.note(kind, |status| {
                (status.state, status.failed, status.last_error) =
                    (State::Working, status.failed + 1, Some(error));
            }),
            Ok(Progress::Idle) => {
                self.note(kind, |status| status.state = State::Idle);
                return Some(self.until_due(kind).await);
            }
            Ok(Progress::OverBudget) => {
                self.note(kind, |status| status.state = State::Overspent);
                return Some(POLL);
            }
            Err(error) => {
                self.note(kind, |status| status.last_error = Some(error.to_string()));
                return Some(AFTER_TROUBLE);
            }
        }
        None
    }

    /// How long until something is due that failed before; the usual time, if that is sooner.
    async fn until_due(&self, kind: WorkerKind) -> Duration {
        let due: Result<_, StoreError> = self.office.store.next_due(kind).await;
        let now = self.office.clock.now();
        let due = due.ok().flatten().map(|due| Duration::from_millis(due.millis_since(now)));
        due.map_or(POLL, |due| due.clamp(Duration::from_millis(100), POLL))
    }

    fn note(&self, kind: WorkerKind, change: impl FnOnce(&mut Status)) {
        let mut statuses = self.statuses.lock().unwrap_or_else(PoisonError::into_inner);
        change(statuses.entry(kind).or_insert_with(|| Status::new(kind)));
    }
}
