//! Many at once on one memory.

use std::{
    collections::HashSet,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::Value;

#[cfg(target_os = "linux")]
use super::BadDisk;
use super::{Chance, faults_of};
use crate::{Home, Reply, Run, ScriptedProvider};

/// What came of it.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// Turns that were acknowledged.
    pub turns: usize,
    /// Searches, lists and work beside them.
    pub others: usize,
    /// Runs of tasks, which a daemon began meanwhile.
    pub tasks: usize,
}

/// Has `processes` of the program at work on one memory, again and again for `time`: turns, searches, background work, exports; and a daemon
/// beside them that runs `tasks` tasks every few seconds. Nothing that was acknowledged is lost, no moment of a task comes twice, and
/// nobody is told that the memory is busy, though every sync may take `sync` milliseconds (on Linux). Panics with the seed otherwise.
pub fn load(
    binary: &Path,
    seed: u64,
    (processes, tasks): (usize, usize),
    time: Duration,
    sync: u64,
) -> LoadReport {
    let home = Arc::new(Home::new(binary));
    let provider = Arc::new(ScriptedProvider::always(Reply::text("Noted, all of it.")));
    let acknowledged: Arc<Mutex<HashSet<i64>>> = Arc::default();
    let (turns, others) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    // It is there before they come.
    home.memoir(["-p", "The first words."]).provider(&provider).succeed();
    for number in 0..tasks {
        let name = format!("task{number}");
        let when = ["--cron", "*/5 * * * * *", "--model", "memoir/recall"];
        home.memoir(["schedule", "add", &name, "What was said about topics?"].iter().chain(&when)).succeed();
    }
    let mut daemon = on_its_disk(&home, home.memoir(["daemon"]), sync, seed).spawn_saying_to(&home.log());
    let until = Instant::now() + time;
    std::thread::scope(|scope| {
        for number in 0..processes {
            let (home, provider, acknowledged) = (&home, &provider, &acknowledged);
            let (turns, others) = (&turns, &others);
            let mut chance = Chance::new(seed + number as u64);
            scope.spawn(move || {
                while Instant::now() < until {
                    let prompt =
                        format!("Process {number} says something about topic {}.", chance.below(1000));
                    let run = match chance.below(6) {
                        0 => home.memoir(["search", "something about a topic"]),
                        1 => home.memoir(["worker", "run", "--until-idle"]),
                        2 => home.memoir(["export", "--format", "jsonl"]),
                        _ => home.memoir(["-p", &prompt, "--output-format", "json"]),
                    };
                    let output = on_its_disk(home, run.provider(provider), sync, seed).output();
                    let said = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert!(output.status.success(), "seed {seed}, process {number}: {said}");
                    assert!(!is_of_a_busy_memory(&said), "seed {seed}, process {number}: {said}");
                    let result: Option<Value> = serde_json::from_slice(&output.stdout).ok();
                    match result.and_then(|result| result["exchange_id"].as_i64()) {
                        Some(id) => {
                            acknowledged.lock().unwrap().insert(id);
                            turns.fetch_add(1, Ordering::Relaxed);
                        }
                        None => {
                            others.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    // Before anyone opens it.
    let (faults, there) = faults_of(&home.database());
    assert!(faults.is_empty(), "seed {seed}: {faults:?}");
    let acknowledged = acknowledged.lock().unwrap();
    let lost: Vec<_> = acknowledged.iter().filter(|id| !there.contains_key(id)).collect();
    assert!(lost.is_empty(), "seed {seed}: exchanges {lost:?} are lost");
    assert_eq!(there.len(), acknowledged.len() + 1, "seed {seed}: nothing is there twice");
    let said = std::fs::read_to_string(home.log()).unwrap();
    assert!(!is_of_a_busy_memory(&said), "seed {seed}: the daemon said: {said}");
    LoadReport {
        turns: turns.load(Ordering::Relaxed),
        others: others.load(Ordering::Relaxed),
        tasks: tasks_run(&home, seed),
    }
}

/// Has a run keep its memory where syncs take up to so many milliseconds.
#[cfg(target_os = "linux")]
fn on_its_disk(home: &Home, run: Run, sync: u64, seed: u64) -> Run {
    match sync {
        0 => run,
        _ => BadDisk::slow(sync, seed).beneath(home, run),
    }
}

#[cfg(not(target_os = "linux"))]
fn on_its_disk(_: &Home, run: Run, _: u64, _: u64) -> Run {
    run
}

fn is_of_a_busy_memory(said: &str) -> bool {
    ["busy", "locked"].iter().any(|word| said.contains(word))
}

/// How many runs of tasks there were: each for another moment, and each did its work or was still at it when the daemon was killed.
fn tasks_run(home: &Home, seed: u64) -> usize {
    let runs = home.rows("runs");
    let moments: HashSet<(&str, &str)> = runs.iter().map(|row| (cell(row, 1), cell(row, 2))).collect();
    assert_eq!(moments.len(), runs.len(), "seed {seed}: a task was run twice for a moment");
    let ill: Vec<&String> =
        runs.iter().filter(|row| !["'done'", "'running'"].contains(&cell(row, 5))).collect();
    assert!(ill.is_empty(), "seed {seed}: runs of tasks that did not end well: {ill:?}");
    runs.len()
}

/// A column of a run: its id, the task, the moment, when it began and ended, its state; behind that texts may hold anything.
fn cell(row: &str, column: usize) -> &str {
    row.split('|').nth(column).unwrap_or_default()
}
