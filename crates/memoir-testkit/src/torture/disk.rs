//! A disk that goes wrong at some moment or other.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use fastrand::Rng;

use super::{
    BadDisk, SaidById, Trouble, enough,
    promises::{OWN, files_with, kept_by, lost, not_exported, word},
    random::pick,
};
use crate::{
    ProgramRun, Reply, ScriptedProvider, TestHome,
    database::{Seen, look_at},
};

/// A run changes files some hundreds of times: up to two to the power of this. Each power is as likely, so that much goes wrong early, while
/// the memory is opened, and some late, while it commits.
const POWERS: u64 = 9;

/// What the program does on the bad disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Turn,
    Work,
    Forget,
    Export,
}

/// Turns come most often: they are what people do.
const DEEDS: [Deed; 5] = [Deed::Turn, Deed::Work, Deed::Forget, Deed::Export, Deed::Turn];

/// What came of it.
#[derive(Debug, Default)]
pub struct DiskReport {
    /// How many runs went well, and how many did not and said so: by trouble, and for files that may not grow.
    pub runs: BTreeMap<String, (usize, usize)>,
    /// How many turns were acknowledged.
    pub acknowledged: usize,
    /// How many exchanges were forgotten, as asked.
    pub forgotten: usize,
    /// How many exports were written, and read back.
    pub exported: usize,
}

impl DiskReport {
    /// What came too seldom to tell anything. Of 200 runs there are about thirty with each trouble and sixty with files
    /// that may not grow; most of them fail, but on a slow disk none does, and with files that may not grow one in three.
    pub fn too_little(&self) -> Option<String> {
        let total: usize = self.runs.values().map(|(well, ill)| well + ill).sum();
        let of = |trouble: &str| self.runs.get(trouble).copied().unwrap_or_default();
        let ill = ["Full", "ReadOnly", "Broken", "NoRoom"].map(|trouble| {
            (format!("runs that failed on a disk that is {trouble}"), of(trouble).1, total / 40)
        });
        enough::too_little(ill.into_iter().chain([
            ("runs on a slow disk".into(), of("Slow").0, total / 20),
            ("turns that were acknowledged".into(), self.acknowledged, total / 40),
            ("exports".into(), self.exported, total / 100),
            ("exchanges that were forgotten".into(), self.forgotten, total / 200),
        ]))
    }
}

/// Runs turns, work, forgetting and exports on a disk that chance has chosen: one that is full, broken, slow or cannot be written to from
/// some moment on, or one on which no file may grow beyond a size. Whatever does not work is said, with a code that says so; what was
/// acknowledged is there, and nothing in halves. Panics with the seed otherwise.
pub fn disk(binary: &Path, seed: u64, runs: usize) -> DiskReport {
    let mut trial = Trial::new(binary, seed);
    for step in 1..=runs as u64 {
        trial.step(step);
    }
    trial.end()
}

struct Trial {
    seed: u64,
    random: Rng,
    home: TestHome,
    provider: ScriptedProvider,
    /// What the program said it had kept.
    kept: SaidById,
    /// What was forgotten, whether it could say so or not, with the word that was said in it and nowhere else.
    gone: BTreeMap<i64, String>,
    report: DiskReport,
}

/// How a run ended.
struct Ended {
    deed: Deed,
    /// The exchange that was to be forgotten, if one was.
    chosen: i64,
    code: i32,
    printed: String,
    /// Where and how, for who reads of a failure.
    place: String,
}

impl Trial {
    fn new(binary: &Path, seed: u64) -> Self {
        let home = TestHome::new(binary);
        let provider = ScriptedProvider::always(Reply::text("Noted, every word of it."));
        let asked = prompt(0);
        let printed = home.memoir(["-p", &asked, "--output-format", "json"]).provider(&provider).succeed();
        Self {
            seed,
            random: Rng::with_seed(seed),
            home,
            provider,
            kept: kept_by(&printed, &asked).into_iter().collect(),
            gone: BTreeMap::new(),
            report: DiskReport::default(),
        }
    }

    fn step(&mut self, step: u64) {
        let known: Vec<i64> = self.kept.keys().copied().collect();
        let chosen = *pick(&mut self.random, &known);
        let drawn = *pick(&mut self.random, &DEEDS);
        // Something is left to be forgotten next time.
        let deed = if known.len() > 1 { drawn } else { Deed::Turn };
        // What was exported before is not taken for what is exported now.
        let _ = std::fs::remove_file(self.export());
        let asked = prompt(step);
        let run = self.begin(deed, chosen, &asked);
        let (trouble, what, run) = self.on_bad_disk(run);
        let output = run.output();
        let complained = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let code = output.status.code().unwrap_or(-1);
        let place = format!("seed {}, step {step}, {deed:?}, {what}", self.seed);
        assert!(
            (0..=2).contains(&code) && !complained.contains("panicked"),
            "{place}: exit {code}: {complained}"
        );
        assert!(code == 0 || !complained.trim().is_empty(), "{place}: it says nothing");
        assert!(code == 0 || trouble != "Slow", "{place}: a slow disk is no failure: {complained}");
        let (well, ill) = self.report.runs.entry(trouble).or_default();
        *(if code == 0 { well } else { ill }) += 1;
        if deed == Deed::Turn {
            let acknowledged = kept_by(&printed, &asked);
            assert!(code != 0 || acknowledged.is_some(), "{place}: it tells of no exchange: {printed}");
            self.report.acknowledged += usize::from(acknowledged.is_some());
            self.kept.extend(acknowledged);
        }
        self.check(&Ended { deed, chosen, code, printed, place });
    }

    fn begin(&self, deed: Deed, chosen: i64, asked: &str) -> ProgramRun {
        let run = match deed {
            Deed::Turn => self.home.memoir(["-p", asked, "--output-format", "json"]),
            Deed::Work => self.home.memoir(["worker", "run", "--until-idle"]),
            Deed::Forget => {
                self.home.memoir(["memory", "forget", "--exchange", &chosen.to_string(), "--yes"])
            }
            Deed::Export => {
                let file = self.export().to_string_lossy().into_owned();
                self.home.memoir(["export", "--format", "jsonl", "-o", &file])
            }
        };
        run.provider(&self.provider)
    }

    /// Where exports go: to the bad disk too.
    fn export(&self) -> PathBuf {
        self.home.memoir_home().join("all.jsonl")
    }

    /// A run on a disk that chance chooses; and what that is called, briefly and at length.
    fn on_bad_disk(&mut self, run: ProgramRun) -> (String, String, ProgramRun) {
        let random = &mut self.random;
        match random.usize(..6) {
            kind if kind < 4 => {
                let trouble = Trouble::ALL[kind];
                let changes = 1 << random.u64(1..=POWERS);
                let disk = BadDisk::draw(trouble, changes, random);
                (format!("{trouble:?}"), disk.to_string(), disk.beneath(&self.home, run))
            }
            _ => {
                // Around the size that the memory has now: that is where it hurts.
                let size = std::fs::metadata(self.home.database()).map_or(0, |file| file.len() / 512);
                let blocks = random.u64(..size + size / 2 + 64);
                ("NoRoom".into(), format!("{blocks} blocks"), run.with_files_up_to(blocks))
            }
        }
    }

    fn check(&mut self, ended: &Ended) {
        let place = &ended.place;
        let seen = look_at(&self.home.database());
        assert!(seen.faults.is_empty(), "{place}: {:?}", seen.faults);
        match ended.deed {
            Deed::Forget => self.check_forgetting(ended, &seen),
            Deed::Export => self.check_export(ended),
            Deed::Turn | Deed::Work => {}
        }
        let lost = lost(&self.kept, &seen.exchanges);
        assert!(lost.is_empty(), "{place}: exchanges {lost:?} are lost, or not what was said in them");
        let back: Vec<&i64> = self.gone.keys().filter(|&id| seen.exchanges.contains_key(id)).collect();
        assert!(back.is_empty(), "{place}: exchanges {back:?} are forgotten, and there");
    }

    /// One that could not be forgotten may be there or not, but not in halves; and it stays so.
    fn check_forgetting(&mut self, ended: &Ended, seen: &Seen) {
        let Ended { chosen, code, printed, place, .. } = ended;
        if *code != 0 && seen.exchanges.contains_key(chosen) {
            return;
        }
        let word = self.kept.remove(chosen).unwrap_or_default().word().to_owned();
        self.report.forgotten += usize::from(*code == 0);
        // Else it is left to whoever opens the memory next, if his disk is well.
        if *code == 0 && !printed.contains("may remain on disk") {
            let files = files_with(&self.home.database(), std::slice::from_ref(&word));
            assert!(
                files.is_empty(),
                "{place}: it is forgotten, and not gone: {files:?}; it said: {printed}"
            );
        }
        self.gone.insert(*chosen, word);
    }

    /// What has its name is whole, and what was said to be written tells of everything.
    fn check_export(&mut self, ended: &Ended) {
        let Ended { code, place, .. } = ended;
        let export = std::fs::read_to_string(self.export());
        assert!(*code != 0 || export.is_ok(), "{place}: it is not there: {export:?}");
        if let Ok(export) = export {
            let missing = not_exported(&self.kept, &export);
            assert_eq!(missing, Ok(Vec::new()), "{place}: exchanges that the export does not tell of");
            self.report.exported += usize::from(*code == 0);
        }
    }

    /// On a disk that is well, what could not be finished is: nothing is left of what was forgotten.
    fn end(self) -> DiskReport {
        self.home.memoir(["search", "remember all of this"]).succeed();
        let words: Vec<String> = self.gone.into_values().collect();
        let files = files_with(&self.home.database(), &words);
        assert!(files.is_empty(), "seed {}: exchanges are forgotten, and not gone: {files:?}", self.seed);
        self.report
    }
}

/// What is asked in a step.
fn prompt(step: u64) -> String {
    let word = word(OWN, step);
    format!("In step {word} this is said: {}", ["remember all of this."; 20].join(" "))
}
