//! Runs the program on a disk that fails at a random moment.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use fastrand::Rng;

use super::{
    BadDisk, DiskFault, PromptsAndAnswers, copies, coverage,
    promises::{TURN_PREFIX, acknowledged_exchange, find_lost, find_traces, find_unexported, unique_word},
    random::pick,
};
use crate::{
    ProgramRun, Reply, ScriptedProvider, TestHome,
    database::{Inspection, inspect},
};

/// A run changes files up to `2^POWERS` times. All powers are equally likely, so that many failures come
/// early, while the database is opened, and some late, during a commit.
const POWERS: u64 = 9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiskAction {
    Turn,
    Work,
    Forget,
    Export,
    BackUp,
    Repair,
}

/// Actions to draw from. Turns are the most frequent, as in normal use.
const ACTIONS: [DiskAction; 7] = [
    DiskAction::Turn,
    DiskAction::Work,
    DiskAction::Forget,
    DiskAction::Export,
    DiskAction::Turn,
    DiskAction::BackUp,
    DiskAction::Repair,
];

/// The results of a disk test.
#[derive(Debug, Default)]
pub struct DiskReport {
    /// Numbers of successful and failed runs by fault. `NoRoom` stands for a limited file size.
    pub runs: BTreeMap<String, (usize, usize)>,
    /// Number of acknowledged turns.
    pub acknowledged: usize,
    /// Number of confirmed deletions of exchanges.
    pub forgotten: usize,
    /// Number of exports that were written and checked.
    pub exported: usize,
    /// Number of backups that were checked.
    pub backups: usize,
    /// Number of confirmed repairs.
    pub repairs: usize,
}

impl DiskReport {
    /// Describes an event that occurred too rarely for a meaningful result. In 200 runs, each fault occurs
    /// about 30 times and a limited file size 60 times. Most runs fail, except on a slow disk (none) and with
    /// a limited file size (one in three).
    pub fn shortfall(&self) -> Option<String> {
        let total: usize = self.runs.values().map(|(succeeded, failed)| succeeded + failed).sum();
        let counts = |fault: &str| self.runs.get(fault).copied().unwrap_or_default();
        let failures = ["Full", "ReadOnly", "Broken", "NoRoom"]
            .map(|fault| (format!("failed runs on a disk that is {fault}"), counts(fault).1, total / 40));
        coverage::find_shortfall(failures.into_iter().chain([
            ("runs on a slow disk".into(), counts("Slow").0, total / 20),
            ("acknowledged turns".into(), self.acknowledged, total / 40),
            ("exports".into(), self.exported, total / 100),
            ("deleted exchanges".into(), self.forgotten, total / 200),
            ("backups".into(), self.backups, total / 200),
            ("repairs".into(), self.repairs, total / 200),
        ]))
    }
}

/// Runs turns, background work, deletions, exports, backups and repairs on a random disk: one that becomes full, broken, slow
/// or read-only at some point, or one with a limited file size. Checks that failures are reported with an
/// exit code and a message, that acknowledged data is there, and that nothing is stored in part.
///
/// # Panics
///
/// Panics with the seed if a check fails.
pub fn disk(binary: &Path, seed: u64, runs: usize) -> DiskReport {
    let mut trial = DiskTrial::new(binary, seed);
    for step in 1..=runs as u64 {
        trial.run_step(step);
    }
    trial.finish()
}

struct DiskTrial {
    seed: u64,
    random: Rng,
    home: TestHome,
    provider: ScriptedProvider,
    acknowledged: PromptsAndAnswers,
    /// Unique words of deleted exchanges by id, whether or not the program confirmed the deletion.
    deleted: BTreeMap<i64, String>,
    report: DiskReport,
}

/// The result of a run.
struct DiskRunResult {
    action: DiskAction,
    /// The exchange to delete, if the action is a deletion.
    chosen_id: i64,
    code: i32,
    stdout: String,
    /// Where a backup was to be made.
    backup: PathBuf,
    /// Describes the step for failure messages.
    step: String,
}

impl DiskTrial {
    fn new(binary: &Path, seed: u64) -> Self {
        let home = TestHome::new(binary);
        let provider = ScriptedProvider::always(Reply::text("Noted, every word of it."));
        let prompt = compose_prompt(0);
        let stdout = home.memoir(["-p", &prompt, "--output-format", "json"]).provider(&provider).succeed();
        Self {
            seed,
            random: Rng::with_seed(seed),
            home,
            provider,
            acknowledged: acknowledged_exchange(&stdout, &prompt).into_iter().collect(),
            deleted: BTreeMap::new(),
            report: DiskReport::default(),
        }
    }

    fn run_step(&mut self, number: u64) {
        let ids: Vec<i64> = self.acknowledged.keys().copied().collect();
        let chosen_id = *pick(&mut self.random, &ids);
        let choice = *pick(&mut self.random, &ACTIONS);
        // Always keep an exchange that can be deleted later.
        let action = if ids.len() > 1 { choice } else { DiskAction::Turn };
        // Remove the previous export, so that it is not mistaken for a new one.
        let _ = std::fs::remove_file(self.export_path());
        let prompt = compose_prompt(number);
        let backup = copies::backup_directory(&self.home, number);
        let run = self.prepare(action, chosen_id, &prompt, &backup);
        let (fault, description, run) = self.apply_fault(run);
        let output = run.output();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let code = output.status.code().unwrap_or(-1);
        let step = format!("seed {}, step {number}, {action:?}, {description}", self.seed);
        assert!((0..=2).contains(&code) && !stderr.contains("panicked"), "{step}: exit {code}: {stderr}");
        assert!(code == 0 || !stderr.trim().is_empty(), "{step}: it failed without an error message");
        assert!(code == 0 || fault != "Slow", "{step}: it failed on a slow disk: {stderr}");
        let (succeeded, failed) = self.report.runs.entry(fault).or_default();
        *(if code == 0 { succeeded } else { failed }) += 1;
        if action == DiskAction::Turn {
            let exchange = acknowledged_exchange(&stdout, &prompt);
            assert!(code != 0 || exchange.is_some(), "{step}: it acknowledged no exchange: {stdout}");
            self.report.acknowledged += usize::from(exchange.is_some());
            self.acknowledged.extend(exchange);
        }
        self.check(&DiskRunResult { action, chosen_id, code, stdout, backup, step });
        copies::remove_old(&self.home);
    }

    fn prepare(&self, action: DiskAction, chosen_id: i64, prompt: &str, backup: &Path) -> ProgramRun {
        let run = match action {
            DiskAction::Turn => self.home.memoir(["-p", prompt, "--output-format", "json"]),
            DiskAction::Work => self.home.memoir(["worker", "run", "--until-idle"]),
            DiskAction::Forget => {
                self.home.memoir(["memory", "forget", "--exchange", &chosen_id.to_string(), "--yes"])
            }
            DiskAction::Export => {
                let file = self.export_path().to_string_lossy().into_owned();
                self.home.memoir(["export", "--format", "jsonl", "-o", &file])
            }
            DiskAction::BackUp => self.home.memoir(["backup", &backup.to_string_lossy()]),
            DiskAction::Repair => self.home.memoir(["repair"]),
        };
        run.provider(&self.provider)
    }

    /// Returns the path for exports, which is on the bad disk as well.
    fn export_path(&self) -> PathBuf {
        self.home.memoir_home().join("all.jsonl")
    }

    /// Applies a random fault to a run. Returns the name of the fault, its description and the run.
    fn apply_fault(&mut self, run: ProgramRun) -> (String, String, ProgramRun) {
        let random = &mut self.random;
        match random.usize(..6) {
            kind if kind < 4 => {
                let fault = DiskFault::ALL[kind];
                let changes = 1 << random.u64(1..=POWERS);
                let disk = BadDisk::draw(fault, changes, random);
                (format!("{fault:?}"), disk.to_string(), disk.apply(&self.home, run))
            }
            _ => {
                // Limits near the current size of the database are the most likely to cause failures.
                let size = std::fs::metadata(self.home.database()).map_or(0, |file| file.len() / 512);
                let blocks = random.u64(..size + size / 2 + 64);
                ("NoRoom".into(), format!("{blocks} blocks"), run.limit_file_size(blocks))
            }
        }
    }

    fn check(&mut self, result: &DiskRunResult) {
        let step = &result.step;
        let inspection = inspect(&self.home.database());
        assert!(inspection.faults.is_empty(), "{step}: {:?}", inspection.faults);
        match result.action {
            DiskAction::Forget => self.check_deletion(result, &inspection),
            DiskAction::Export => self.check_export(result),
            DiskAction::BackUp => {
                let is_complete = copies::check_backup(&result.backup, &self.acknowledged, step);
                assert!(result.code != 0 || is_complete, "{step}: the backup is missing");
                self.report.backups += usize::from(is_complete);
            }
            DiskAction::Repair => self.report.repairs += usize::from(result.code == 0),
            DiskAction::Turn | DiskAction::Work => {}
        }
        let lost = find_lost(&self.acknowledged, &inspection.exchanges);
        assert!(lost.is_empty(), "{step}: exchanges {lost:?} are lost or changed");
        let restored: Vec<&i64> =
            self.deleted.keys().filter(|&id| inspection.exchanges.contains_key(id)).collect();
        assert!(restored.is_empty(), "{step}: deleted exchanges {restored:?} exist again");
    }

    /// Checks a deletion. A failed one is done completely or not at all, and a completed one is permanent.
    fn check_deletion(&mut self, result: &DiskRunResult, inspection: &Inspection) {
        let DiskRunResult { chosen_id, code, stdout, step, .. } = result;
        if *code != 0 && inspection.exchanges.contains_key(chosen_id) {
            return;
        }
        let word = self.acknowledged.remove(chosen_id).unwrap_or_default().unique_word().to_owned();
        self.report.forgotten += usize::from(*code == 0);
        // Otherwise the next run that opens the database on a working disk erases the text.
        if *code == 0 && !stdout.contains("may remain on disk") {
            let traces = find_traces(&self.home, std::slice::from_ref(&word));
            assert!(
                traces.is_empty(),
                "{step}: traces of the deleted exchange remain: {traces:?}; its output: {stdout}"
            );
        }
        self.deleted.insert(*chosen_id, word);
    }

    /// Checks that an export is complete if it exists, and that it exists if the run succeeded.
    fn check_export(&mut self, result: &DiskRunResult) {
        let DiskRunResult { code, step, .. } = result;
        let export = std::fs::read_to_string(self.export_path());
        assert!(*code != 0 || export.is_ok(), "{step}: the export is missing: {export:?}");
        if let Ok(export) = export {
            let missing = find_unexported(&self.acknowledged, &export);
            assert_eq!(missing, Ok(Vec::new()), "{step}: exchanges are missing from the export");
            self.report.exported += usize::from(*code == 0);
        }
    }

    /// Opens the database on a working disk and checks that no trace of any deleted exchange remains.
    fn finish(self) -> DiskReport {
        self.home.memoir(["search", "remember all of this"]).succeed();
        let words: Vec<String> = self.deleted.into_values().collect();
        let traces = find_traces(&self.home, &words);
        assert!(traces.is_empty(), "seed {}: traces of deleted exchanges remain: {traces:?}", self.seed);
        self.report
    }
}

fn compose_prompt(step: u64) -> String {
    let word = unique_word(TURN_PREFIX, step);
    format!("In step {word} this is said: {}", ["remember all of this."; 20].join(" "))
}
