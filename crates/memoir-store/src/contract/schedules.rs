//! Checks for scheduled tasks and their runs.

use std::sync::Arc;

use memoir_core::{NewTask, RunOutcome, RunState, Schedule, Usd};

use super::timestamp;
use crate::{NewRun, Store};

fn task(name: &str) -> NewTask {
    NewTask {
        name: name.into(),
        prompt: "Look.".into(),
        schedule: Schedule::Cron { line: "0 9 * * *".into(), zone: "Europe/Berlin".into() },
        model: Some("openai/gpt-5-mini".into()),
        scope: "/p".into(),
        approval: "ask".into(),
        allow: vec!["execute_bash(ls, -l)".into()],
        timeout_seconds: 60,
        history: 3,
        budget: Some(Usd::from_nanos(5)),
    }
}

fn outcome(state: RunState) -> RunOutcome {
    RunOutcome { state, report: "seen".into(), error: None, cost: Some(Usd::from_nanos(7)) }
}

pub async fn run_starts_once_and_keeps_its_outcome(store: Arc<dyn Store>) {
    assert!(store.add_task(&task("a"), Some(timestamp(1_000)), timestamp(1)).await.unwrap());
    assert!(
        !store.add_task(&task("a"), Some(timestamp(5)), timestamp(1)).await.unwrap(),
        "the name is taken"
    );
    let stored = store.task("a").await.unwrap().unwrap();
    assert_eq!(
        (&stored.definition, stored.paused, stored.next_due),
        (&task("a"), false, Some(timestamp(1_000)))
    );
    assert!(store.due_tasks(timestamp(999)).await.unwrap().is_empty());
    assert_eq!(store.due_tasks(timestamp(1_000)).await.unwrap(), std::slice::from_ref(&stored));
    let new = NewRun {
        task: stored.id,
        scheduled_for: Some(timestamp(1_000)),
        next_due: Some(timestamp(2_000)),
        owner: "me",
        now: timestamp(1_001),
        until: timestamp(1_500),
    };
    let run = store.start_run(&new).await.unwrap().unwrap();
    assert_eq!(store.start_run(&new).await.unwrap(), None, "no longer due at that time");
    let manual = NewRun { scheduled_for: None, next_due: None, ..new };
    assert_eq!(store.start_run(&manual).await.unwrap(), None, "the task is running");
    assert!(store.due_tasks(timestamp(3_000)).await.unwrap().is_empty());
    assert_eq!(store.next_task_due().await.unwrap(), None, "running tasks are ignored");
    assert!(store.renew_run(run, timestamp(1_900)).await.unwrap());
    let running = store.running_runs().await.unwrap();
    assert_eq!((running.len(), running[0].id, running[0].until), (1, run, timestamp(1_900)));
    assert!(store.end_run(run, &outcome(RunState::Done), timestamp(1_100)).await.unwrap());
    assert!(
        !store.end_run(run, &outcome(RunState::Failed), timestamp(1_200)).await.unwrap(),
        "the run has ended"
    );
    assert!(!store.renew_run(run, timestamp(9_000)).await.unwrap());
    assert_eq!(store.next_task_due().await.unwrap(), Some(timestamp(2_000)));
    assert_eq!(store.count_unread_runs().await.unwrap(), (1, Some(run)));
    let unseen = store.unread_runs().await.unwrap();
    assert_eq!((unseen[0].task.as_str(), &unseen[0].outcome), ("a", &outcome(RunState::Done)));
    store.mark_read(&[run]).await.unwrap();
    assert_eq!(store.count_unread_runs().await.unwrap(), (0, None));
    assert_eq!(store.runs(Some(stored.id), 5).await.unwrap().len(), 1);
}

pub async fn task_is_paused_rescheduled_and_deleted_with_its_runs(store: Arc<dyn Store>) {
    let once = NewTask { schedule: Schedule::Once(timestamp(1_000)), ..task("once") };
    store.add_task(&once, Some(timestamp(1_000)), timestamp(1)).await.unwrap();
    let stored = store.task("once").await.unwrap().unwrap();
    assert_eq!(stored.definition.schedule, Schedule::Once(timestamp(1_000)));
    store.set_task_paused(stored.id, true, stored.next_due).await.unwrap();
    assert!(store.due_tasks(timestamp(2_000)).await.unwrap().is_empty());
    store.set_due(stored.id, timestamp(1_000), timestamp(500)).await.unwrap();
    assert_eq!(
        store.task("once").await.unwrap().unwrap().next_due,
        Some(timestamp(1_000)),
        "a paused task is not rescheduled"
    );
    store.set_task_paused(stored.id, false, Some(timestamp(1_000))).await.unwrap();
    let new = NewRun {
        task: stored.id,
        scheduled_for: Some(timestamp(1_000)),
        next_due: None,
        owner: "me",
        now: timestamp(1_001),
        until: timestamp(1_500),
    };
    let run = store.start_run(&new).await.unwrap().unwrap();
    store.end_run(run, &outcome(RunState::Stopped), timestamp(1_002)).await.unwrap();
    assert_eq!(store.due_tasks(timestamp(1_003)).await.unwrap().len(), 1, "the task is due again");
    let run = store.start_run(&new).await.unwrap().unwrap();
    store.end_run(run, &outcome(RunState::Interrupted), timestamp(1_004)).await.unwrap();
    store.set_task_paused(stored.id, false, Some(timestamp(1_000))).await.unwrap();
    assert_eq!(store.start_run(&new).await.unwrap(), None, "each scheduled time has only one run");
    assert!(store.remove_task(stored.id).await.unwrap() && !store.remove_task(stored.id).await.unwrap());
    assert!(store.runs(None, 10).await.unwrap().is_empty() && store.tasks().await.unwrap().is_empty());
}
