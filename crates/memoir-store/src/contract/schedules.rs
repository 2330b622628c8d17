//! Tasks and their runs.

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

pub async fn a_run_is_begun_once_and_its_outcome_is_kept(store: Arc<dyn Store>) {
    assert!(store.add_task(&task("a"), Some(timestamp(1_000)), timestamp(1)).await.unwrap());
    assert!(
        !store.add_task(&task("a"), Some(timestamp(5)), timestamp(1)).await.unwrap(),
        "a name is given once"
    );
    let kept = store.task("a").await.unwrap().unwrap();
    assert_eq!((&kept.what, kept.paused, kept.next_due), (&task("a"), false, Some(timestamp(1_000))));
    assert!(store.due_tasks(timestamp(999)).await.unwrap().is_empty());
    assert_eq!(store.due_tasks(timestamp(1_000)).await.unwrap(), std::slice::from_ref(&kept));
    let new = NewRun {
        task: kept.id,
        scheduled_for: Some(timestamp(1_000)),
        next_due: Some(timestamp(2_000)),
        owner: "me",
        now: timestamp(1_001),
        until: timestamp(1_500),
    };
    let run = store.begin_run(&new).await.unwrap().unwrap();
    assert_eq!(store.begin_run(&new).await.unwrap(), None, "it is not due for that moment any more");
    let at_once = NewRun { scheduled_for: None, next_due: None, ..new };
    assert_eq!(store.begin_run(&at_once).await.unwrap(), None, "it is at it");
    assert!(store.due_tasks(timestamp(3_000)).await.unwrap().is_empty());
    assert_eq!(store.next_task_due().await.unwrap(), None, "nobody waits for who is at it");
    assert!(store.renew_run(run, timestamp(1_900)).await.unwrap());
    let running = store.running_runs().await.unwrap();
    assert_eq!((running.len(), running[0].id, running[0].until), (1, run, timestamp(1_900)));
    assert!(store.end_run(run, &outcome(RunState::Done), timestamp(1_100)).await.unwrap());
    assert!(!store.end_run(run, &outcome(RunState::Failed), timestamp(1_200)).await.unwrap(), "it is over");
    assert!(!store.renew_run(run, timestamp(9_000)).await.unwrap());
    assert_eq!(store.next_task_due().await.unwrap(), Some(timestamp(2_000)));
    assert_eq!(store.unseen().await.unwrap(), (1, Some(run)));
    let unseen = store.unseen_runs().await.unwrap();
    assert_eq!((unseen[0].task.as_str(), &unseen[0].outcome), ("a", &outcome(RunState::Done)));
    store.mark_seen(&[run]).await.unwrap();
    assert_eq!(store.unseen().await.unwrap(), (0, None));
    assert_eq!(store.runs(Some(kept.id), 5).await.unwrap().len(), 1);
}

pub async fn a_task_waits_is_set_and_goes_with_its_runs(store: Arc<dyn Store>) {
    let once = NewTask { schedule: Schedule::Once(timestamp(1_000)), ..task("once") };
    store.add_task(&once, Some(timestamp(1_000)), timestamp(1)).await.unwrap();
    let kept = store.task("once").await.unwrap().unwrap();
    assert_eq!(kept.what.schedule, Schedule::Once(timestamp(1_000)));
    store.set_task(kept.id, true, kept.next_due).await.unwrap();
    assert!(store.due_tasks(timestamp(2_000)).await.unwrap().is_empty());
    store.set_due(kept.id, timestamp(1_000), timestamp(500)).await.unwrap();
    assert_eq!(
        store.task("once").await.unwrap().unwrap().next_due,
        Some(timestamp(1_000)),
        "who waits is left alone"
    );
    store.set_task(kept.id, false, Some(timestamp(1_000))).await.unwrap();
    let new = NewRun {
        task: kept.id,
        scheduled_for: Some(timestamp(1_000)),
        next_due: None,
        owner: "me",
        now: timestamp(1_001),
        until: timestamp(1_500),
    };
    let run = store.begin_run(&new).await.unwrap().unwrap();
    store.end_run(run, &outcome(RunState::Stopped), timestamp(1_002)).await.unwrap();
    assert_eq!(store.due_tasks(timestamp(1_003)).await.unwrap().len(), 1, "its moment was given back");
    let run = store.begin_run(&new).await.unwrap().unwrap();
    store.end_run(run, &outcome(RunState::CutOff), timestamp(1_004)).await.unwrap();
    store.set_task(kept.id, false, Some(timestamp(1_000))).await.unwrap();
    assert_eq!(store.begin_run(&new).await.unwrap(), None, "a moment that had its run has no other");
    assert!(store.remove_task(kept.id).await.unwrap() && !store.remove_task(kept.id).await.unwrap());
    assert!(store.runs(None, 10).await.unwrap().is_empty() && store.tasks().await.unwrap().is_empty());
}
