//! Many at once on one memory.

use std::{
    collections::HashSet,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

#[cfg(target_os = "linux")]
use super::BadDisk;
use super::{
    Chance, Exchanges, enough, look_at,
    promises::{kept_by, lost, not_exported},
};
use crate::{Home, Reply, Run, ScriptedProvider};

/// What came of it.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// Turns that were acknowledged.
    pub turns: usize,
    /// Searches, exports and work beside them.
    pub others: usize,
    /// Runs of tasks, which a daemon began meanwhile.
    pub runs: usize,
    /// How long it was, and how many tasks there were.
    time: Duration,
    tasks: usize,
}

impl LoadReport {
    /// What was done too seldom to tell anything. On a quiet machine ten processes do ten turns a second and as much
    /// beside them, four if syncs are slow, and a task runs every five seconds, or every ten.
    pub fn too_little(&self) -> Option<String> {
        let seconds = usize::try_from(self.time.as_secs()).unwrap_or(0);
        enough::too_little([
            ("turns".into(), self.turns, (seconds / 2).max(1)),
            ("searches, exports and work".into(), self.others, (seconds / 4).max(1)),
            ("runs of tasks".into(), self.runs, (self.tasks * seconds / 50).max(1)),
        ])
    }
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
    let scene = Scene {
        seed,
        sync,
        home: Home::new(binary),
        provider: ScriptedProvider::always(Reply::text("Noted, all of it.")),
        kept: Mutex::default(),
        others: AtomicUsize::new(0),
    };
    let home = &scene.home;
    // It is there before they come.
    let asked = "The first words.";
    let printed = home.memoir(["-p", asked, "--output-format", "json"]).provider(&scene.provider).succeed();
    scene.kept.lock().unwrap().extend(kept_by(&printed, asked));
    for number in 0..tasks {
        let name = format!("task{number}");
        let when = ["--cron", "*/5 * * * * *", "--model", "memoir/recall"];
        home.memoir(["schedule", "add", &name, "What was said about topics?"].iter().chain(&when)).succeed();
    }
    let mut daemon = on_its_disk(home, home.memoir(["daemon"]), sync, seed).spawn_saying_to(&home.log());
    let until = Instant::now() + time;
    std::thread::scope(|scope| {
        for number in 0..processes {
            let scene = &scene;
            scope.spawn(move || scene.work(number, until));
        }
    });
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    // Before anyone opens it.
    let seen = look_at(&home.database());
    assert!(seen.faults.is_empty(), "seed {seed}: {:?}", seen.faults);
    let kept = scene.kept.lock().unwrap();
    let lost = lost(&kept, &seen.exchanges);
    assert!(lost.is_empty(), "seed {seed}: exchanges {lost:?} are lost, or not what was said in them");
    assert_eq!(seen.exchanges.len(), kept.len(), "seed {seed}: nothing is there twice");
    let said = std::fs::read_to_string(home.log()).unwrap();
    assert!(!is_of_a_busy_memory(&said), "seed {seed}: the daemon said: {said}");
    LoadReport {
        turns: kept.len() - 1,
        others: scene.others.load(Ordering::Relaxed),
        runs: runs_of_tasks(home, seed),
        time,
        tasks,
    }
}

/// What they have in common.
struct Scene {
    seed: u64,
    sync: u64,
    home: Home,
    provider: ScriptedProvider,
    /// What was acknowledged.
    kept: Mutex<Exchanges>,
    others: AtomicUsize,
}

impl Scene {
    /// What one of them does, a run after the other.
    fn work(&self, number: usize, until: Instant) {
        let mut chance = Chance::new(self.seed + number as u64);
        let mut count = 0;
        while Instant::now() < until {
            count += 1;
            // No two say the same.
            let topic = chance.below(1000);
            let prompt = format!("Process {number} says something about topic {topic}, in run {count}.");
            match chance.below(6) {
                0 => drop(self.run(number, &["search", "something about a topic"])),
                1 => drop(self.run(number, &["worker", "run", "--until-idle"])),
                2 => self.export(number),
                _ => {
                    let printed = self.run(number, &["-p", &prompt, "--output-format", "json"]);
                    let acknowledged = kept_by(&printed, &prompt);
                    let place = format!("seed {}, process {number}", self.seed);
                    assert!(acknowledged.is_some(), "{place}: a turn that tells of no exchange: {printed}");
                    self.kept.lock().unwrap().extend(acknowledged);
                    continue;
                }
            }
            self.others.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An export tells at least of what was acknowledged before it began.
    fn export(&self, number: usize) {
        let before = self.kept.lock().unwrap().clone();
        let export = self.run(number, &["export", "--format", "jsonl"]);
        let missing = not_exported(&before, &export);
        let place = format!("seed {}, process {number}", self.seed);
        assert_eq!(missing, Ok(Vec::new()), "{place}: exchanges that the export does not tell of");
    }

    /// Runs the program to its end; gives what it printed.
    fn run(&self, number: usize, arguments: &[&str]) -> String {
        let run = self.home.memoir(arguments).provider(&self.provider);
        let output = on_its_disk(&self.home, run, self.sync, self.seed).output();
        let complained = String::from_utf8_lossy(&output.stderr);
        let place = format!("seed {}, process {number}, {arguments:?}", self.seed);
        assert!(output.status.success(), "{place}: {complained}");
        assert!(!is_of_a_busy_memory(&complained), "{place}: {complained}");
        String::from_utf8_lossy(&output.stdout).into_owned()
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
fn runs_of_tasks(home: &Home, seed: u64) -> usize {
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
