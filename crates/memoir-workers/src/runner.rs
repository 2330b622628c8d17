//! Workers that run beside the talk: started and stopped by name, paused while a turn runs.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use memoir_core::{Subject, WorkerKind};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Broke, Office, Progress, backoff,
    worker::{Current, Worker, all},
};

/// How often work is looked for without being told that there is any.
const POLL: Duration = Duration::from_secs(30);

/// A worker that was started begins after so long: starting up comes first.
const FIRST_REST: Duration = Duration::from_millis(300);

/// Looking for texts without vectors takes memory that a program which was just started does not need.
const FIRST_REST_OF_VECTORS: Duration = Duration::from_secs(3);

/// What a worker is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It works.
    Working,
    /// There is nothing to do.
    Idle,
    /// It was told to wait.
    Paused,
    /// Nothing more may be spent.
    Overspent(Broke),
    /// It failed, and tries again after so long.
    Troubled(Duration),
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
    /// What it is at.
    pub current: Vec<Subject>,
    /// How much it has done since it was started.
    pub completed: u64,
    /// How often it has failed.
    pub failed: u64,
    /// Why it failed last.
    pub last_error: Option<String>,
}

/// What is known of a worker from outside.
#[derive(Debug, Clone)]
struct Known {
    state: State,
    /// Until when it rests after a failure.
    rests_until: Option<Instant>,
    current: Current,
    completed: u64,
    failed: u64,
    last_error: Option<String>,
}

impl Known {
    fn new() -> Self {
        Self {
            state: State::Stopped,
            rests_until: None,
            current: Current::default(),
            completed: 0,
            failed: 0,
            last_error: None,
        }
    }

    fn status(&self, worker: WorkerKind) -> Status {
        let current = self.current.get();
        let rest = self.rests_until.map(|until| until.saturating_duration_since(Instant::now()));
        let state = match (self.state, rest) {
            (State::Idle, _) if !current.is_empty() => State::Working,
            (State::Idle, Some(rest)) if !rest.is_zero() => State::Troubled(rest),
            (state, _) => state,
        };
        Status {
            worker,
            state,
            current,
            completed: self.completed,
            failed: self.failed,
            last_error: self.last_error.clone(),
        }
    }
}

/// What is told of the background as it happens.
pub type Listener = Arc<dyn Fn(WorkerKind, &Progress) + Send + Sync>;

/// What the workers of a process have in common.
#[derive(Clone)]
struct Shared {
    office: Office,
    known: Arc<Mutex<HashMap<WorkerKind, Known>>>,
    wakes: Arc<HashMap<WorkerKind, Notify>>,
    /// How often they were told not to rest any longer, whatever failed.
    hurries: watch::Sender<u64>,
    listener: Option<Listener>,
}

impl Shared {
    fn note(&self, kind: WorkerKind, change: impl FnOnce(&mut Known)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        change(known.entry(kind).or_insert_with(Known::new));
    }

    fn wake(&self, kind: WorkerKind) {
        if let Some(wake) = self.wakes.get(&kind) {
            wake.notify_one();
        }
    }

    async fn woken(&self, kind: WorkerKind) {
        match self.wakes.get(&kind) {
            Some(wake) => wake.notified().await,
            None => std::future::pending().await,
        }
    }
}

struct Running {
    stop: CancellationToken,
    /// Whether it is waiting, as it was told.
    waits: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

/// The workers of a process.
pub struct Runner {
    shared: Shared,
    pause: watch::Sender<bool>,
    running: HashMap<WorkerKind, Running>,
}

impl Runner {
    /// Workers of `office`; none runs yet. `listener` is told what they do.
    pub fn new(office: Office, listener: Option<Listener>) -> Self {
        let wakes = WorkerKind::ALL.into_iter().map(|kind| (kind, Notify::new())).collect();
        Self {
            shared: Shared {
                office,
                known: Arc::default(),
                wakes: Arc::new(wakes),
                hurries: watch::Sender::new(0),
                listener,
            },
            pause: watch::Sender::new(false),
            running: HashMap::new(),
        }
    }

    /// What they share.
    pub fn office(&self) -> &Office {
        &self.shared.office
    }

    /// Starts a worker; one that runs goes on.
    pub fn start(&mut self, kind: WorkerKind) {
        if self.running.get(&kind).is_some_and(|running| !running.task.is_finished()) {
            return;
        }
        let Some(worker) = all().into_iter().find(|worker| worker.kind() == kind) else { return };
        let stop = CancellationToken::new();
        let (says, waits) = watch::channel(false);
        let desk = Desk {
            shared: self.shared.clone(),
            kind,
            pause: self.pause.subscribe(),
            hurries: self.shared.hurries.subscribe(),
            stop: stop.clone(),
            waits: says,
            troubles: 0,
            rests_until: None,
            interrupted: Vec::new(),
        };
        // From now on, whoever asks is told so.
        self.shared.note(kind, |known| known.state = State::Idle);
        let task = tokio::spawn(desk.work(worker));
        self.running.insert(kind, Running { stop, waits, task });
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
        self.running.keys().for_each(|kind| self.shared.wake(*kind));
    }

    /// Tells them to try again now, whatever failed.
    pub fn hurry(&self) {
        self.shared.hurries.send_modify(|times| *times += 1);
        self.wake();
    }

    /// How each is getting on.
    pub fn statuses(&self) -> Vec<Status> {
        let known = self.shared.known.lock().unwrap_or_else(PoisonError::into_inner);
        WorkerKind::ALL
            .into_iter()
            .map(|kind| known.get(&kind).cloned().unwrap_or_else(Known::new).status(kind))
            .collect()
    }
}

/// Where one worker sits.
struct Desk {
    shared: Shared,
    kind: WorkerKind,
    pause: watch::Receiver<bool>,
    hurries: watch::Receiver<u64>,
    stop: CancellationToken,
    waits: watch::Sender<bool>,
    /// How often in a row it has failed.
    troubles: u32,
    /// Until when it rests after that, whoever wakes it.
    rests_until: Option<Instant>,
    /// What it was at when it was interrupted. It goes on with that: nobody else takes it meanwhile.
    interrupted: Vec<Subject>,
}

impl Desk {
    async fn work(mut self, worker: &'static dyn Worker) {
        let kind = self.kind;
        let vectors = kind == WorkerKind::EmbeddingGenerator;
        self.rest(if vectors { FIRST_REST_OF_VECTORS } else { FIRST_REST }).await;
        while !self.stop.is_cancelled() {
            if *self.pause.borrow_and_update() {
                if self.wait_as_told().await {
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
            let rest = self.step(worker).await;
            if let Some(rest) = rest {
                self.rest(rest).await;
            }
        }
        // What it was interrupted at is anybody's; if this fails, it is found out that we are gone.
        let _ = self.shared.office.store.release(kind, &std::mem::take(&mut self.interrupted)).await;
        self.shared.note(kind, |known| known.state = State::Stopped);
    }

    /// Waits until it may go on; says whether it may.
    async fn wait_as_told(&mut self) -> bool {
        self.shared.note(self.kind, |known| known.state = State::Paused);
        self.waits.send_replace(true);
        let goes_on = tokio::select! {
            () = self.stop.cancelled() => false,
            resumed = self.pause.wait_for(|paused| !*paused) => resumed.is_ok(),
        };
        self.waits.send_replace(false);
        self.shared.note(self.kind, |known| known.state = State::Idle);
        goes_on
    }

    /// Waits until there may be work, or something else to heed.
    async fn rest(&mut self, time: Duration) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            _ = self.pause.wait_for(|paused| *paused) => {}
            () = self.shared.woken(self.kind) => {}
            () = tokio::time::sleep(time) => {}
        }
    }

    /// Does one piece, unless it is stopped or paused in the middle. Says how long to rest.
    async fn step(&mut self, worker: &'static dyn Worker) -> Option<Duration> {
        let (kind, current) = (self.kind, Current::default());
        self.shared.note(kind, |known| known.current = current.clone());
        let came = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            _ = self.pause.wait_for(|paused| *paused) => None,
            came = worker.step(&self.shared.office, &current) => Some(came),
        };
        let was_at = current.get();
        current.set(Vec::new());
        let Some(came) = came else {
            self.interrupted = was_at;
            return None;
        };
        self.interrupted.clear();
        if let (Some(listener), Ok(progress)) = (&self.shared.listener, &came) {
            listener(kind, progress);
        }
        match came {
            Ok(Progress::Worked { done, failed, error }) => {
                self.shared.note(kind, |known| {
                    known.completed += done.len() as u64;
                    known.failed += failed.len() as u64;
                    known.last_error = error.clone().or(known.last_error.take());
                });
                match error {
                    Some(error) if done.is_empty() => self.trouble(error),
                    _ => {
                        (self.troubles, self.rests_until) = (0, None);
                        self.shared
                            .note(kind, |known| (known.state, known.rests_until) = (State::Idle, None));
                    }
                }
                if kind != WorkerKind::EmbeddingGenerator && !done.is_empty() {
                    // There is a summary without a vector now.
                    self.shared.wake(WorkerKind::EmbeddingGenerator);
                }
                // What nothing came of is not taken up again at once.
                if done.is_empty() && failed.is_empty() { Some(self.until_due().await) } else { None }
            }
            Ok(Progress::Idle) => {
                self.shared.note(kind, |known| known.state = State::Idle);
                // If this fails, the leases of the dead run out.
                let _ = self.shared.office.take_back_from_the_dead().await;
                Some(self.until_due().await)
            }
            Ok(Progress::OverBudget(broke)) => {
                self.shared.note(kind, |known| known.state = State::Overspent(broke));
                Some(POLL)
            }
            Err(error) => {
                self.trouble(error.to_string());
                None
            }
        }
    }

    /// Rests after a failure: longer with every one in a row, so that a server that is down is not called all the time.
    fn trouble(&mut self, error: String) {
        let until = Instant::now() + backoff::rest(self.troubles);
        self.troubles += 1;
        self.rests_until = Some(until);
        // Whoever was told to hurry before has.
        self.hurries.mark_unchanged();
        self.shared.note(self.kind, |known| {
            (known.state, known.rests_until, known.last_error) = (State::Idle, Some(until), Some(error));
        });
    }

    /// How long until something is due that failed before; the usual time, if that is sooner.
    async fn until_due(&self) -> Duration {
        let now = self.shared.office.clock.now();
        let due = self.shared.office.store.next_due(self.kind, now).await;
        let due = due.ok().flatten().map(|due| Duration::from_millis(due.millis_since(now)));
        due.map_or(POLL, |due| due.clamp(Duration::from_millis(100), POLL))
    }
}
