//! The scheduler with a manual clock.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memoir_core::{Clock as _, NewTask, RunId, RunOutcome, RunState, Schedule, Task, Timestamp};
use memoir_schedule::{Engine, Scheduler, StartedRun, check_schedule};
use memoir_store::Schedules as _;
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::fakes::ManualClock;
use tokio_util::sync::CancellationToken;

const MINUTE: i64 = 60_000;

/// An engine that records its calls.
#[derive(Default)]
struct RecordingEngine(Mutex<Vec<(String, RunId)>>);

#[async_trait]
impl Engine for RecordingEngine {
    async fn run(&self, task: &Task, run: RunId, _cancel: &CancellationToken) -> RunOutcome {
        self.0.lock().unwrap().push((task.definition.name.clone(), run));
        RunOutcome { state: RunState::Done, report: "done".into(), error: None, cost: None }
    }
}

impl RecordingEngine {
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

struct Fixture {
    directory: tempfile::TempDir,
    store: SqliteStore,
    clock: Arc<ManualClock>,
    engine: RecordingEngine,
}

impl Fixture {
    async fn new(now: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
        let clock = Arc::new(ManualClock::new(millis(now)));
        Self { directory, store, clock, engine: RecordingEngine::default() }
    }

    fn scheduler(&self, owner: &str) -> Scheduler {
        Scheduler::new(Arc::new(self.store.clone()), Arc::clone(&self.clock) as _, owner, |_| None)
    }

    async fn add(&self, name: &str, schedule: Schedule) {
        let new = NewTask {
            name: name.into(),
            prompt: "Do it.".into(),
            schedule,
            model: None,
            scope: "/p".into(),
            approval: "read-only".into(),
            allow: Vec::new(),
            timeout_seconds: 600,
            history: 5,
            budget: None,
        };
        let due = check_schedule(&new.schedule, self.clock.now()).unwrap();
        assert!(self.store.add_task(&new, Some(due), self.clock.now()).await.unwrap());
    }

    /// Starts and executes the due runs.
    async fn run_due(&self, scheduler: &Scheduler) -> Vec<StartedRun> {
        let runs = scheduler.start_due().await.unwrap().started;
        for run in &runs {
            scheduler.execute(run, &self.engine, &CancellationToken::new()).await.unwrap();
        }
        runs
    }
}

fn millis(moment: &str) -> i64 {
    moment.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

fn quarters() -> Schedule {
    Schedule::Cron { line: "*/15 * * * *".into(), zone: "Europe/Berlin".into() }
}

#[tokio::test]
async fn two_daemons_run_each_quarter_hour_once_in_a_week_with_a_clock_change() {
    for (from, hours) in [("2026-10-22T00:00:00+02:00", 169), ("2026-03-26T00:00:00+01:00", 167)] {
        let fixture = Fixture::new(from).await;
        fixture.add("news", quarters()).await;
        let (one, another) = (fixture.scheduler("one"), fixture.scheduler("another"));
        let start = millis(from);
        for minute in 1..=hours * 60 {
            // Daemons do not check exactly on the minute.
            fixture.clock.set(start + minute * MINUTE + 1234);
            fixture.run_due(&one).await;
            fixture.run_due(&another).await;
        }
        assert_eq!(fixture.engine.count(), usize::try_from(hours * 4).unwrap(), "{from}");
        let runs = fixture.store.runs(None, 10_000).await.unwrap();
        let moments: std::collections::HashSet<_> =
            runs.iter().map(|run| run.scheduled_for.unwrap()).collect();
        assert_eq!(moments.len(), runs.len(), "no time has two runs");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_schedulers_start_each_run_once() {
    let fixture = Fixture::new("2026-05-01T09:59:00Z").await;
    for number in 0..20 {
        fixture.add(&format!("task{number}"), quarters()).await;
    }
    fixture.clock.set(millis("2026-05-01T10:00:30Z"));
    // A second store simulates another process with its own connections.
    let other_store = SqliteStore::open(&fixture.directory.path().join("memoir.db")).await.unwrap();
    let one = fixture.scheduler("one");
    let another = Scheduler::new(Arc::new(other_store), Arc::clone(&fixture.clock) as _, "another", |_| None);
    let (first, second) = tokio::join!(
        tokio::spawn(async move { one.start_due().await.unwrap() }),
        tokio::spawn(async move { another.start_due().await.unwrap() }),
    );
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.started.len() + second.started.len(), 20);
    assert!(first.errors.is_empty() && second.errors.is_empty());
}

#[tokio::test]
async fn missed_runs_are_made_up_for_once() {
    let fixture = Fixture::new("2026-05-01T10:00:00Z").await;
    fixture.add("news", quarters()).await;
    let scheduler = fixture.scheduler("one");
    fixture.clock.set(millis("2026-05-01T10:15:01Z"));
    assert_eq!(fixture.run_due(&scheduler).await.len(), 1);
    fixture.clock.set(millis("2026-05-01T16:20:00Z"));
    assert_eq!(fixture.run_due(&scheduler).await.len(), 1, "one run, not twenty-four");
    assert!(fixture.run_due(&scheduler).await.is_empty());
    let due = fixture.store.task("news").await.unwrap().unwrap().next_due.unwrap();
    assert_eq!(due.as_millis(), millis("2026-05-01T16:30:00Z"));
}

#[tokio::test]
async fn clock_jumps_neither_repeat_nor_block_runs() {
    let fixture = Fixture::new("2026-05-01T10:00:00Z").await;
    fixture.add("news", quarters()).await;
    let scheduler = fixture.scheduler("one");
    fixture.clock.set(millis("2026-05-01T10:15:01Z"));
    assert_eq!(fixture.run_due(&scheduler).await.len(), 1);
    fixture.clock.set(millis("2026-05-01T09:50:00Z"));
    assert!(fixture.run_due(&scheduler).await.is_empty());
    fixture.clock.set(millis("2026-05-01T10:15:02Z"));
    assert!(fixture.run_due(&scheduler).await.is_empty(), "that time already had its run");
    fixture.clock.set(millis("2026-05-01T10:30:02Z"));
    assert_eq!(fixture.run_due(&scheduler).await.len(), 1);
    // The clock is years ahead for a moment.
    fixture.clock.set(millis("2031-01-01T00:00:00Z"));
    assert_eq!(fixture.run_due(&scheduler).await.len(), 1);
    fixture.clock.set(millis("2026-05-01T10:46:00Z"));
    fixture.run_due(&scheduler).await;
    fixture.clock.set(millis("2026-05-01T11:01:00Z"));
    assert_eq!(fixture.run_due(&scheduler).await.len(), 1, "the task returns to its schedule");
}

#[tokio::test]
async fn a_running_task_is_not_started_again_and_a_dead_run_is_marked() {
    let fixture = Fixture::new("2026-05-01T10:00:00Z").await;
    fixture.add("news", quarters()).await;
    let scheduler = fixture.scheduler("one");
    fixture.clock.set(millis("2026-05-01T10:15:01Z"));
    let runs = scheduler.start_due().await.unwrap().started;
    assert_eq!(runs.len(), 1);
    fixture.clock.set(millis("2026-05-01T10:30:00Z"));
    assert!(scheduler.start_due().await.unwrap().started.is_empty(), "the task is still running");
    assert_eq!(scheduler.start_now(&runs[0].task).await.unwrap(), None);
    // The lease expired while the machine was suspended. The owner itself ignores that.
    fixture.clock.set(millis("2026-05-01T16:31:00Z"));
    assert!(scheduler.recover().await.unwrap().is_empty());
    let interrupted = fixture.scheduler("another").recover().await.unwrap();
    assert_eq!((interrupted.len(), interrupted[0].outcome.state), (1, RunState::Interrupted));
    assert_eq!(fixture.run_due(&scheduler).await.len(), 1, "the missed runs are made up for once");
    // An outcome that arrives after that is ignored.
    scheduler.execute(&runs[0], &fixture.engine, &CancellationToken::new()).await.unwrap();
    let runs = fixture.store.runs(None, 10).await.unwrap();
    assert_eq!(runs[1].outcome.state, RunState::Interrupted);
}

#[tokio::test]
async fn a_one_time_task_runs_once_and_a_paused_task_does_not_run() {
    let fixture = Fixture::new("2026-05-01T10:00:00Z").await;
    fixture.add("once", Schedule::Once(Timestamp::from_millis(millis("2026-05-01T12:00:00Z")))).await;
    fixture.add("waits", quarters()).await;
    let task = fixture.store.task("waits").await.unwrap().unwrap();
    fixture.store.set_task_paused(task.id, true, task.next_due).await.unwrap();
    let scheduler = fixture.scheduler("one");
    for minute in 0..300 {
        fixture.clock.set(millis("2026-05-01T10:00:00Z") + minute * MINUTE);
        fixture.run_due(&scheduler).await;
    }
    let ran: Vec<String> = fixture.engine.0.lock().unwrap().iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(ran, ["once"]);
    assert_eq!(fixture.store.task("once").await.unwrap().unwrap().next_due, None);
    let unread = fixture.store.unread_runs().await.unwrap();
    assert_eq!((unread.len(), unread[0].outcome.report.as_str()), (1, "done"));
    fixture.store.mark_read(&[unread[0].id]).await.unwrap();
    assert_eq!(fixture.store.count_unread_runs().await.unwrap(), (0, None));
    assert!(fixture.store.remove_task(unread[0].task_id).await.unwrap());
    assert!(fixture.store.runs(None, 10).await.unwrap().is_empty());
}

/// An engine whose runs last until they are cancelled.
struct WaitingEngine;

#[async_trait]
impl Engine for WaitingEngine {
    async fn run(&self, _task: &Task, _run: RunId, cancel: &CancellationToken) -> RunOutcome {
        cancel.cancelled().await;
        RunOutcome { state: RunState::Stopped, report: String::new(), error: None, cost: None }
    }
}

/// An engine that panics.
struct CrashingEngine;

#[async_trait]
impl Engine for CrashingEngine {
    async fn run(&self, _task: &Task, _run: RunId, _cancel: &CancellationToken) -> RunOutcome {
        panic!("the engine crashed")
    }
}

#[tokio::test]
async fn a_stopped_run_can_be_started_again_and_a_crash_is_recorded() {
    let fixture = Fixture::new("2026-05-01T10:00:00Z").await;
    fixture.add("once", Schedule::Once(Timestamp::from_millis(millis("2026-05-01T12:00:00Z")))).await;
    fixture.clock.set(millis("2026-05-01T12:00:01Z"));
    let (one, another) = (fixture.scheduler("one"), fixture.scheduler("another"));
    let cancel = CancellationToken::new();
    let mut events = Vec::new();
    let scheduling = async {
        one.run_until_cancelled(Arc::new(WaitingEngine), &cancel, &mut |event| events.push(event)).await;
    };
    let stopping = async {
        // Querying the store lets the scheduler run.
        while fixture.store.running_runs().await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(another.start_due().await.unwrap().started.is_empty(), "the run has an owner");
        cancel.cancel();
    };
    tokio::join!(scheduling, stopping);
    assert_eq!(events.len(), 2, "the run started and ended: {events:?}");
    let runs = another.start_due().await.unwrap().started;
    assert_eq!(runs.len(), 1, "another scheduler starts it again");
    let outcome = another.execute(&runs[0], &CrashingEngine, &CancellationToken::new()).await.unwrap();
    assert_eq!((outcome.state, outcome.error.as_deref()), (RunState::Failed, Some("the run crashed")));
    assert!(another.start_due().await.unwrap().started.is_empty(), "a crashed run is not repeated");
}
