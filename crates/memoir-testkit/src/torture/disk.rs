//! A disk that goes wrong at some moment or other.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use super::{BadDisk, Chance, Trouble, faults_of};
use crate::{Home, Reply, ScriptedProvider};

/// A run changes files some hundreds of times: up to two to the power of this. Each power is as likely, so that much goes wrong early, while
/// the memory is opened, and some late, while it commits.
const POWERS: u64 = 9;

/// How many runs went well, and how many did not and said so: by trouble, and for files that may not grow.
pub type DiskReport = BTreeMap<String, (usize, usize)>;

/// Runs turns, work, forgetting and exports on a disk that chance has chosen: one that is full, broken, slow or cannot be written to from
/// some moment on, or one on which no file may grow beyond a size. Whatever does not work is said, with a code that says so; what was
/// acknowledged is there, and nothing in halves. Panics with the seed otherwise.
pub fn disk(binary: &Path, seed: u64, runs: usize) -> DiskReport {
    let mut chance = Chance::new(seed);
    let home = Home::new(binary);
    let provider = ScriptedProvider::always(Reply::text("Noted, every word of it."));
    let mut report = DiskReport::new();
    home.memoir(["-p", "The first words."]).provider(&provider).succeed();
    let mut acknowledged = vec![1];
    let mut forgotten = Vec::new();
    for step in 0..runs {
        let prompt = format!("Step {step}: {}", "remember all of this. ".repeat(20));
        let chosen = *chance.one_of(&acknowledged);
        // On the bad disk too.
        let all = home.memoir_home().join("all.jsonl").to_string_lossy().into_owned();
        // Something is left to be forgotten next time.
        let doing = chance.below(5).min(if acknowledged.len() > 1 { 4 } else { 0 });
        let run = match doing {
            1 => home.memoir(["worker", "run", "--until-idle"]),
            2 => home.memoir(["memory", "forget", "--exchange", &chosen.to_string(), "--yes"]),
            3 => home.memoir(["export", "--format", "jsonl", "-o", &all]),
            _ => home.memoir(["-p", &prompt, "--output-format", "json"]),
        };
        let run = run.provider(&provider);
        let (name, what, run) = match chance.below(6) {
            kind if kind < 4 => {
                let trouble = Trouble::ALL[usize::try_from(kind).unwrap_or(0)];
                let disk = BadDisk::by_chance(trouble, 1 << (1 + chance.below(POWERS)), &mut chance);
                (format!("{trouble:?}"), disk.to_string(), disk.beneath(&home, run))
            }
            _ => {
                // Around the size that the memory has now: that is where it hurts.
                let size = std::fs::metadata(home.database()).map_or(0, |file| file.len() / 512);
                let blocks = chance.below(size + size / 2 + 64);
                ("NoRoom".into(), format!("{blocks} blocks"), run.with_files_up_to(blocks))
            }
        };
        let output = run.output();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code().unwrap_or(-1);
        assert!(
            (0..=2).contains(&code) && !said.contains("panicked"),
            "seed {seed}, step {step}, {what}: exit {code}: {said}"
        );
        let (well, ill) = report.entry(name).or_default();
        match code {
            0 => *well += 1,
            _ => {
                assert!(!said.trim().is_empty(), "seed {seed}, step {step}, {what}: it says nothing");
                *ill += 1;
            }
        }
        if doing == 2 {
            // One that could not be forgotten may be there or not, but not in halves.
            acknowledged.retain(|id| *id != chosen);
            forgotten.extend((code == 0).then_some(chosen));
        }
        let result: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        acknowledged.extend(result.and_then(|result| result["exchange_id"].as_i64()));
        let (faults, there) = faults_of(&home.database());
        assert!(faults.is_empty(), "seed {seed}, step {step}, {what}: {faults:?}");
        let lost: Vec<_> = acknowledged.iter().filter(|id| !there.contains_key(id)).collect();
        assert!(lost.is_empty(), "seed {seed}, step {step}, {what}: exchanges {lost:?} are lost");
        let left: Vec<_> = forgotten.iter().filter(|id| there.contains_key(id)).collect();
        assert!(left.is_empty(), "seed {seed}, step {step}, {what}: exchanges {left:?} were to be forgotten");
    }
    report
}
