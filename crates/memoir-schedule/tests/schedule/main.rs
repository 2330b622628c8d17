//! Tasks in injected time: weeks pass in a moment.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memoir_core::{Clock as _, NewTask, RunId, RunOutcome, RunState, Schedule, Task, Timestamp};
use memoir_schedule::{Begun, Engine, Scheduler, check};
use memoir_store::Schedules as _;
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::fakes::ManualClock;
use tokio_util::sync::CancellationToken;

const MINUTE: i64 = 60_000;

/// Notes for which moment it was called.
#[derive(Default)]
struct Noting(Mutex<Vec<(String, RunId)>>);

#[async_trait]
impl Engine for Noting {
    async fn run(&self, task: &Task, run: RunId, _cancel: &CancellationToken) -> RunOutcome {
        self.0.lock().unwrap().push((task.what.name.clone(), run));
        RunOutcome { state: RunState::Done, report: "done".into(), error: None, cost: None }
    }
}

impl Noting {
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

struct World {
    folder: tempfile::TempDir,
    store: SqliteStore,
    clock: Arc<ManualClock>,
    engine: Noting,
}

impl World {
    async fn at(moment: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("memoir.db")).await.unwrap();
        let clock = Arc::new(ManualClock::new(millis(moment)));
        Self { folder, store, clock, engine: Noting::default() }
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
        let due = check(&new.schedule, self.clock.now()).unwrap();
        assert!(self.store.add_task(&new, Some(due), self.clock.now()).await.unwrap());
    }

    /// Begins what is due and does it.
    async fn tick(&self, scheduler: &Scheduler) -> Vec<Begun> {
        let begun = scheduler.begin_due().await.unwrap().begun;
        for begun in &begun {
            scheduler.perform(begun, &self.engine, &CancellationToken::new()).await.unwrap();
        }
        begun
    }
}

fn millis(moment: &str) -> i64 {
    moment.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

fn quarters() -> Schedule {
    Schedule::Cron { line: "*/15 * * * *".into(), zone: "Europe/Berlin".into() }
}

#[tokio::test]
async fn a_week_across_the_change_of_the_clocks_with_two_daemons_runs_each_quarter_once() {
    for (from, hours) in [("2026-10-22T00:00:00+02:00", 169), ("2026-03-26T00:00:00+01:00", 167)] {
        let world = World::at(from).await;
        world.add("news", quarters()).await;
        let (one, another) = (world.scheduler("one"), world.scheduler("another"));
        let start = millis(from);
        for minute in 1..=hours * 60 {
            // Not to the second.
            world.clock.set(start + minute * MINUTE + 1234);
            world.tick(&one).await;
            world.tick(&another).await;
        }
        assert_eq!(world.engine.count(), usize::try_from(hours * 4).unwrap(), "{from}");
        let runs = world.store.runs(None, 10_000).await.unwrap();
        let moments: std::collections::HashSet<_> =
            runs.iter().map(|run| run.scheduled_for.unwrap()).collect();
        assert_eq!(moments.len(), runs.len(), "no moment twice");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_that_look_at_the_same_moment_begin_it_once() {
    let world = World::at("2026-05-01T09:59:00Z").await;
    for number in 0..20 {
        world.add(&format!("task{number}"), quarters()).await;
    }
    world.clock.set(millis("2026-05-01T10:00:30Z"));
    // As two processes: each with its own connections.
    let other = SqliteStore::open(&world.folder.path().join("memoir.db")).await.unwrap();
    let one = world.scheduler("one");
    let another = Scheduler::new(Arc::new(other), Arc::clone(&world.clock) as _, "another", |_| None);
    let (first, second) = tokio::join!(
        tokio::spawn(async move { one.begin_due().await.unwrap() }),
        tokio::spawn(async move { another.begin_due().await.unwrap() }),
    );
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.begun.len() + second.begun.len(), 20);
    assert!(first.trouble.is_empty() && second.trouble.is_empty());
}

#[tokio::test]
async fn after_six_hours_of_sleep_it_runs_once() {
    let world = World::at("2026-05-01T10:00:00Z").await;
    world.add("news", quarters()).await;
    let scheduler = world.scheduler("one");
    world.clock.set(millis("2026-05-01T10:15:01Z"));
    assert_eq!(world.tick(&scheduler).await.len(), 1);
    world.clock.set(millis("2026-05-01T16:20:00Z"));
    assert_eq!(world.tick(&scheduler).await.len(), 1, "one run, not twenty-four");
    assert!(world.tick(&scheduler).await.is_empty());
    let due = world.store.task("news").await.unwrap().unwrap().next_due.unwrap();
    assert_eq!(due.as_millis(), millis("2026-05-01T16:30:00Z"));
}

#[tokio::test]
async fn a_clock_that_jumps_back_runs_nothing_twice_and_one_that_was_years_ahead_stops_nothing() {
    let world = World::at("2026-05-01T10:00:00Z").await;
    world.add("news", quarters()).await;
    let scheduler = world.scheduler("one");
    world.clock.set(millis("2026-05-01T10:15:01Z"));
    assert_eq!(world.tick(&scheduler).await.len(), 1);
    world.clock.set(millis("2026-05-01T09:50:00Z"));
    assert!(world.tick(&scheduler).await.is_empty());
    world.clock.set(millis("2026-05-01T10:15:02Z"));
    assert!(world.tick(&scheduler).await.is_empty(), "that moment had its run");
    world.clock.set(millis("2026-05-01T10:30:02Z"));
    assert_eq!(world.tick(&scheduler).await.len(), 1);
    // The battery was empty: for a moment it is 2031.
    world.clock.set(millis("2031-01-01T00:00:00Z"));
    assert_eq!(world.tick(&scheduler).await.len(), 1);
    world.clock.set(millis("2026-05-01T10:46:00Z"));
    world.tick(&scheduler).await;
    world.clock.set(millis("2026-05-01T11:01:00Z"));
    assert_eq!(world.tick(&scheduler).await.len(), 1, "it goes on in its own time");
}

#[tokio::test]
async fn what_still_runs_is_not_begun_again_and_what_died_is_marked() {
    let world = World::at("2026-05-01T10:00:00Z").await;
    world.add("news", quarters()).await;
    let scheduler = world.scheduler("one");
    world.clock.set(millis("2026-05-01T10:15:01Z"));
    let begun = scheduler.begin_due().await.unwrap().begun;
    assert_eq!(begun.len(), 1);
    world.clock.set(millis("2026-05-01T10:30:00Z"));
    assert!(scheduler.begin_due().await.unwrap().begun.is_empty(), "it is still at it");
    assert_eq!(scheduler.begin_now(&begun[0].task).await.unwrap(), None);
    // Long after its lease, since the machine slept: who runs it knows better.
    world.clock.set(millis("2026-05-01T16:31:00Z"));
    assert!(scheduler.recover().await.unwrap().is_empty());
    let cut_off = world.scheduler("another").recover().await.unwrap();
    assert_eq!((cut_off.len(), cut_off[0].outcome.state), (1, RunState::CutOff));
    assert_eq!(world.tick(&scheduler).await.len(), 1, "what was due meanwhile, once");
    // What comes back after that is too late.
    scheduler.perform(&begun[0], &world.engine, &CancellationToken::new()).await.unwrap();
    let runs = world.store.runs(None, 10).await.unwrap();
    assert_eq!(runs[1].outcome.state, RunState::CutOff);
}

#[tokio::test]
async fn once_is_once_and_paused_is_paused() {
    let world = World::at("2026-05-01T10:00:00Z").await;
    world.add("once", Schedule::Once(Timestamp::from_millis(millis("2026-05-01T12:00:00Z")))).await;
    world.add("waits", quarters()).await;
    let task = world.store.task("waits").await.unwrap().unwrap();
    world.store.set_task(task.id, true, task.next_due).await.unwrap();
    let scheduler = world.scheduler("one");
    for minute in 0..300 {
        world.clock.set(millis("2026-05-01T10:00:00Z") + minute * MINUTE);
        world.tick(&scheduler).await;
    }
    let ran: Vec<String> = world.engine.0.lock().unwrap().iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(ran, ["once"]);
    assert_eq!(world.store.task("once").await.unwrap().unwrap().next_due, None);
    let unseen = world.store.unseen_runs().await.unwrap();
    assert_eq!((unseen.len(), unseen[0].outcome.report.as_str()), (1, "done"));
    world.store.mark_seen(&[unseen[0].id]).await.unwrap();
    assert_eq!(world.store.unseen().await.unwrap(), (0, None));
    assert!(world.store.remove_task(unseen[0].task_id).await.unwrap());
    assert!(world.store.runs(None, 10).await.unwrap().is_empty());
}

/// Waits to be stopped.
struct Waiting;

#[async_trait]
impl Engine for Waiting {
    async fn run(&self, _task: &Task, _run: RunId, cancel: &CancellationToken) -> RunOutcome {
        cancel.cancelled().await;
        RunOutcome { state: RunState::Stopped, report: String::new(), error: None, cost: None }
    }
}

/// Crashes.
struct Crashing;

#[async_trait]
impl Engine for Crashing {
    async fn run(&self, _task: &Task, _run: RunId, _cancel: &CancellationToken) -> RunOutcome {
        panic!("out of order")
    }
}

#[tokio::test]
async fn who_is_stopped_gives_his_moment_back_and_who_crashes_is_noted() {
    let world = World::at("2026-05-01T10:00:00Z").await;
    world.add("once", Schedule::Once(Timestamp::from_millis(millis("2026-05-01T12:00:00Z")))).await;
    world.clock.set(millis("2026-05-01T12:00:01Z"));
    let (one, another) = (world.scheduler("one"), world.scheduler("another"));
    let cancel = CancellationToken::new();
    let mut told = Vec::new();
    let looking = async {
        one.look_after(Arc::new(Waiting), &cancel, &mut |event| told.push(event)).await;
    };
    let stopping = async {
        // Asking the store lets the other half run.
        while world.store.running_runs().await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(another.begin_due().await.unwrap().begun.is_empty(), "someone is at it");
        cancel.cancel();
    };
    tokio::join!(looking, stopping);
    assert_eq!(told.len(), 2, "it began and ended: {told:?}");
    let begun = another.begin_due().await.unwrap().begun;
    assert_eq!(begun.len(), 1, "another takes it up");
    let outcome = another.perform(&begun[0], &Crashing, &CancellationToken::new()).await.unwrap();
    assert_eq!((outcome.state, outcome.error.as_deref()), (RunState::Failed, Some("it crashed")));
    assert!(another.begin_due().await.unwrap().begun.is_empty(), "that was its run");
}
