//! Runs many processes at once on one database.

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
    PromptsAndAnswers, coverage,
    promises::{acknowledged_exchange, find_lost, find_unexported},
};
use crate::{
    ProgramRun, Reply, ScriptedProvider, TestHome, WAIT_TIMEOUT, data::StoredRun, database::inspect,
    wait_until,
};

/// The results of a load test.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// Number of acknowledged turns.
    pub turns: usize,
    /// Number of searches, exports and worker runs.
    pub others: usize,
    /// Number of task runs started by the daemon.
    pub runs: usize,
    minimums: Minimums,
}

/// Minimum counts for a meaningful result. On an idle machine, ten processes perform ten turns and ten other
/// actions a second (four if syncs are slow), and a task runs every five to ten seconds.
#[derive(Debug, Default, Clone, Copy)]
struct Minimums {
    turns: usize,
    others: usize,
    runs: usize,
}

impl Minimums {
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
    /// Describes an action that was performed too rarely for a meaningful result.
    pub fn shortfall(&self) -> Option<String> {
        coverage::find_shortfall([
            ("turns".into(), self.turns, self.minimums.turns),
            ("searches, exports and worker runs".into(), self.others, self.minimums.others),
            ("task runs".into(), self.runs, self.minimums.runs),
        ])
    }
}

/// Keeps `processes` processes busy with turns, searches, background work and exports on one database, while
/// a daemon runs `tasks` tasks every few seconds. Runs for `time`, and longer if the machine is too slow to
/// do enough in that time. On Linux, every sync may take `sync` milliseconds. Checks that no acknowledged
/// data is lost, that no task runs twice for the same due time, and that no process reports a busy database.
///
/// # Panics
///
/// Panics with the seed if a check fails.
pub fn load(
    binary: &Path,
    seed: u64,
    (processes, tasks): (usize, usize),
    time: Duration,
    sync: u64,
) -> LoadReport {
    let trial = LoadTrial {
        seed,
        sync,
        home: TestHome::new(binary),
        provider: ScriptedProvider::always(Reply::text("Noted, all of it.")),
        acknowledged: Mutex::default(),
        others: AtomicUsize::new(0),
        minimums: Minimums::new(time, tasks),
        deadline: Instant::now() + time,
    };
    let home = &trial.home;
    // Create the database before the processes start.
    let prompt = "The first words.";
    let stdout = home.memoir(["-p", prompt, "--output-format", "json"]).provider(&trial.provider).succeed();
    trial.acknowledged.lock().unwrap().extend(acknowledged_exchange(&stdout, prompt));
    for number in 0..tasks {
        let name = task_name(number);
        let options = ["--cron", "*/5 * * * * *", "--model", "memoir/recall"];
        home.memoir(["schedule", "add", &name, "What was said about topics?"].iter().chain(&options))
            .succeed();
    }
    let mut daemon = slow_down(home, home.memoir(["daemon"]), sync, seed).spawn_logging_to(&home.log());
    std::thread::scope(|scope| {
        for number in 0..processes {
            let trial = &trial;
            scope.spawn(move || trial.work(number));
        }
    });
    wait_until("tasks run", || home.count("runs") >= trial.minimums.runs as u64);
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    // Inspect the database before the program opens it again and repairs the traces of the kill.
    let inspection = inspect(&home.database());
    assert!(inspection.faults.is_empty(), "seed {seed}: {:?}", inspection.faults);
    let acknowledged = trial.acknowledged.lock().unwrap();
    let lost = find_lost(&acknowledged, &inspection.exchanges);
    assert!(lost.is_empty(), "seed {seed}: exchanges {lost:?} are lost or changed");
    assert_eq!(inspection.exchanges.len(), acknowledged.len(), "seed {seed}: no exchange is stored twice");
    let log = std::fs::read_to_string(home.log()).unwrap();
    assert!(!mentions_busy_database(&log), "seed {seed}: the daemon's log: {log}");
    LoadReport {
        turns: acknowledged.len() - 1,
        others: trial.others.load(Ordering::Relaxed),
        runs: check_runs(home, tasks, seed),
        minimums: trial.minimums,
    }
}

/// State shared by all processes.
struct LoadTrial {
    seed: u64,
    sync: u64,
    home: TestHome,
    provider: ScriptedProvider,
    acknowledged: Mutex<PromptsAndAnswers>,
    others: AtomicUsize,
    minimums: Minimums,
    deadline: Instant,
}

impl LoadTrial {
    /// Returns whether to continue: until the deadline, and until the minimums are reached unless the machine
    /// is too slow.
    fn is_running(&self) -> bool {
        let (turns, others) = (self.acknowledged.lock().unwrap().len(), self.others.load(Ordering::Relaxed));
        let needs_more = turns <= self.minimums.turns || others < self.minimums.others;
        let now = Instant::now();
        now < self.deadline || needs_more && now < self.deadline + WAIT_TIMEOUT
    }

    /// Runs random actions, one after the other.
    fn work(&self, number: usize) {
        let mut random = Rng::with_seed(self.seed + number as u64);
        let mut count = 0;
        while self.is_running() {
            count += 1;
            // Every prompt is unique.
            let topic = random.u16(..1000);
            let prompt = format!("Process {number} says something about topic {topic}, in run {count}.");
            match random.u8(..6) {
                0 => drop(self.run(number, &["search", "something about a topic"])),
                1 => drop(self.run(number, &["worker", "run", "--until-idle"])),
                2 => self.export(number),
                _ => {
                    let stdout = self.run(number, &["-p", &prompt, "--output-format", "json"]);
                    let exchange = acknowledged_exchange(&stdout, &prompt);
                    let process = format!("seed {}, process {number}", self.seed);
                    assert!(exchange.is_some(), "{process}: a turn acknowledged no exchange: {stdout}");
                    self.acknowledged.lock().unwrap().extend(exchange);
                    continue;
                }
            }
            self.others.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Exports all conversations and checks that the export contains everything acknowledged before it started.
    fn export(&self, number: usize) {
        let expected = self.acknowledged.lock().unwrap().clone();
        let export = self.run(number, &["export", "--format", "jsonl"]);
        let missing = find_unexported(&expected, &export);
        let process = format!("seed {}, process {number}", self.seed);
        assert_eq!(missing, Ok(Vec::new()), "{process}: exchanges are missing from the export");
    }

    /// Runs the program to completion and returns its stdout.
    fn run(&self, number: usize, arguments: &[&str]) -> String {
        let run = self.home.memoir(arguments).provider(&self.provider);
        let output = slow_down(&self.home, run, self.sync, self.seed).output();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let process = format!("seed {}, process {number}, {arguments:?}", self.seed);
        assert!(output.status.success(), "{process}: {stderr}");
        assert!(!mentions_busy_database(&stderr), "{process}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Makes the syncs of a run take up to `sync` milliseconds.
#[cfg(target_os = "linux")]
fn slow_down(home: &TestHome, run: ProgramRun, sync: u64, seed: u64) -> ProgramRun {
    match sync {
        0 => run,
        _ => BadDisk::slow(sync, seed).apply(home, run),
    }
}

#[cfg(not(target_os = "linux"))]
fn slow_down(_: &TestHome, run: ProgramRun, _: u64, _: u64) -> ProgramRun {
    run
}

fn mentions_busy_database(output: &str) -> bool {
    ["busy", "locked"].iter().any(|word| output.contains(word))
}

fn list_runs(home: &TestHome, tasks: usize) -> impl Iterator<Item = (usize, StoredRun)> {
    (0..tasks).flat_map(|task| home.runs(&task_name(task)).into_iter().map(move |run| (task, run)))
}

/// Returns the number of task runs. Checks that each has a different due time, and that each is done or was
/// still running when the daemon was killed.
fn check_runs(home: &TestHome, tasks: usize, seed: u64) -> usize {
    let runs: Vec<(usize, StoredRun)> = list_runs(home, tasks).collect();
    let due_times: HashSet<(usize, Option<i64>)> =
        runs.iter().map(|(task, run)| (*task, run.scheduled_for)).collect();
    assert_eq!(due_times.len(), runs.len(), "seed {seed}: a task ran twice for the same due time");
    let is_good = |run: &StoredRun| ["done", "running"].contains(&run.state.as_str());
    let failed: Vec<&(usize, StoredRun)> = runs.iter().filter(|(_, run)| !is_good(run)).collect();
    assert!(failed.is_empty(), "seed {seed}: task runs failed: {failed:?}");
    runs.len()
}

fn task_name(number: usize) -> String {
    format!("task{number}")
}
