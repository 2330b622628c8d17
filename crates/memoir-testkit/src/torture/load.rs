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

use super::{BadDisk, Chance, faults_of};
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
/// nobody is told that the memory is busy, though every sync may take `sync` milliseconds. Panics otherwise.
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
    let on_its_disk = |run: Run| match sync {
        0 => run,
        _ => BadDisk::slow(sync, seed).beneath(&home, run),
    };
    let mut daemon = on_its_disk(home.memoir(["daemon"])).spawn();
    let until = Instant::now() + time;
    std::thread::scope(|scope| {
        for number in 0..processes {
            let (home, provider, acknowledged) = (&home, &provider, &acknowledged);
            let (turns, others, on_its_disk) = (&turns, &others, &on_its_disk);
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
                    let output = on_its_disk(run.provider(provider)).output();
                    let said = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert!(output.status.success(), "process {number}: {said}");
                    assert!(!said.contains("busy"), "process {number}: {said}");
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
    let moments: Vec<String> = home
        .rows("runs")
        .iter()
        .map(|row| row.split('|').skip(1).take(2).collect::<Vec<_>>().join(" at "))
        .collect();
    let once: HashSet<&String> = moments.iter().collect();
    assert_eq!(once.len(), moments.len(), "a task was run twice for a moment");
    let (faults, there) = faults_of(&home.database());
    assert!(faults.is_empty(), "{faults:?}");
    let acknowledged = acknowledged.lock().unwrap();
    let lost: Vec<_> = acknowledged.difference(&there).collect();
    assert!(lost.is_empty(), "exchanges {lost:?} are lost");
    assert_eq!(there.len(), acknowledged.len() + 1, "nothing is there twice");
    LoadReport {
        turns: turns.load(Ordering::Relaxed),
        others: others.load(Ordering::Relaxed),
        tasks: moments.len(),
    }
}
