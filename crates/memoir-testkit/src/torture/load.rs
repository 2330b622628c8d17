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

use fastrand::Rng;

#[cfg(target_os = "linux")]
use super::BadDisk;
use super::{
    SaidById, enough,
    promises::{kept_by, lost, not_exported},
};
use crate::{
    PATIENCE, ProgramRun, Reply, ScriptedProvider, TestHome, data::StoredRun, database::look_at, wait_until,
};

/// What came of it.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// Turns that were acknowledged.
    pub turns: usize,
    /// Searches, exports and work beside them.
    pub others: usize,
    /// Runs of tasks, which a daemon began meanwhile.
    pub runs: usize,
    least: Least,
}

/// How much must be done at least for the result to mean anything. On a quiet machine ten processes do ten turns a second and as
/// much of other work, four if syncs are slow, and a task runs every five seconds, or every ten.
#[derive(Debug, Default, Clone, Copy)]
struct Least {
    turns: usize,
    others: usize,
    runs: usize,
}

impl Least {
    fn new(time: Duration, tasks: usize) -> Self {
        let seconds = usize::try_from(time.as_secs()).unwrap_or(0);
        Self {
            turns: (seconds / 2).max(1),
            others: (seconds / 4).max(1),
            runs: (tasks * seconds / 50).max(1),
        }
    }
}

impl LoadReport {
    /// Returns what was done too seldom to mean anything.
    pub fn too_little(&self) -> Option<String> {
        enough::too_little([
            ("turns".into(), self.turns, self.least.turns),
            ("searches, exports and work".into(), self.others, self.least.others),
            ("runs of tasks".into(), self.runs, self.least.runs),
        ])
    }
}

/// Has `processes` of the program at work on one memory, again and again for `time`, and longer where the machine is so busy that too
/// little was done by then: turns, searches, background work, exports; and a daemon
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
        home: TestHome::new(binary),
        provider: ScriptedProvider::always(Reply::text("Noted, all of it.")),
        kept: Mutex::default(),
        others: AtomicUsize::new(0),
        least: Least::new(time, tasks),
        until: Instant::now() + time,
    };
    let home = &scene.home;
    // It is there before they come.
    let asked = "The first words.";
    let printed = home.memoir(["-p", asked, "--output-format", "json"]).provider(&scene.provider).succeed();
    scene.kept.lock().unwrap().extend(kept_by(&printed, asked));
    for number in 0..tasks {
        let name = name_task(number);
        let when = ["--cron", "*/5 * * * * *", "--model", "memoir/recall"];
        home.memoir(["schedule", "add", &name, "What was said about topics?"].iter().chain(&when)).succeed();
    }
    let mut daemon = on_its_disk(home, home.memoir(["daemon"]), sync, seed).spawn_logging_to(&home.log());
    std::thread::scope(|scope| {
        for number in 0..processes {
            let scene = &scene;
            scope.spawn(move || scene.work(number));
        }
    });
    wait_until("tasks run", || home.count("runs") >= scene.least.runs as u64);
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    // Before the program opens it again, and mends what the kill left.
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
        runs: check_runs(home, tasks, seed),
        least: scene.least,
    }
}

/// What they have in common.
struct Scene {
    seed: u64,
    sync: u64,
    home: TestHome,
    provider: ScriptedProvider,
    /// What was acknowledged.
    kept: Mutex<SaidById>,
    others: AtomicUsize,
    least: Least,
    until: Instant,
}

impl Scene {
    /// Whether there is something left to do: time, or work that was not done often enough. It gives up on a machine that does not
    /// get on at all.
    fn goes_on(&self) -> bool {
        let (turns, others) = (self.kept.lock().unwrap().len(), self.others.load(Ordering::Relaxed));
        let is_too_little = turns <= self.least.turns || others < self.least.others;
        let now = Instant::now();
        now < self.until || is_too_little && now < self.until + PATIENCE
    }

    /// What one of them does, a run after the other.
    fn work(&self, number: usize) {
        let mut random = Rng::with_seed(self.seed + number as u64);
        let mut count = 0;
        while self.goes_on() {
            count += 1;
            // No two prompts are the same.
            let topic = random.u16(..1000);
            let prompt = format!("Process {number} says something about topic {topic}, in run {count}.");
            match random.u8(..6) {
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
fn on_its_disk(home: &TestHome, run: ProgramRun, sync: u64, seed: u64) -> ProgramRun {
    match sync {
        0 => run,
        _ => BadDisk::slow(sync, seed).beneath(home, run),
    }
}

#[cfg(not(target_os = "linux"))]
fn on_its_disk(_: &TestHome, run: ProgramRun, _: u64, _: u64) -> ProgramRun {
    run
}

fn is_of_a_busy_memory(said: &str) -> bool {
    ["busy", "locked"].iter().any(|word| said.contains(word))
}

/// Returns the runs of all tasks.
fn list_runs(home: &TestHome, tasks: usize) -> impl Iterator<Item = (usize, StoredRun)> {
    (0..tasks).flat_map(|task| home.runs(&name_task(task)).into_iter().map(move |run| (task, run)))
}

/// Returns the number of runs of all tasks. Each must be for another moment, and must be done, or still running when the daemon was
/// killed.
fn check_runs(home: &TestHome, tasks: usize, seed: u64) -> usize {
    let runs: Vec<(usize, StoredRun)> = list_runs(home, tasks).collect();
    let moments: HashSet<(usize, Option<i64>)> =
        runs.iter().map(|(task, run)| (*task, run.scheduled_for)).collect();
    assert_eq!(moments.len(), runs.len(), "seed {seed}: a task was run twice for a moment");
    let is_well = |run: &StoredRun| ["done", "running"].contains(&run.state.as_str());
    let ill: Vec<&(usize, StoredRun)> = runs.iter().filter(|(_, run)| !is_well(run)).collect();
    assert!(ill.is_empty(), "seed {seed}: runs of tasks that did not end well: {ill:?}");
    runs.len()
}

fn name_task(number: usize) -> String {
    format!("task{number}")
}
