//! A disk that is full at some moment or other.

use std::path::Path;

use serde_json::Value;

use super::{Chance, faults_of};
use crate::{Home, Reply, ScriptedProvider};

/// What came of it.
#[derive(Debug, Default)]
pub struct DiskReport {
    /// Runs that had room enough.
    pub well: usize,
    /// Runs that had not, and said so.
    pub full: usize,
}

/// Runs turns, work, imports, forgetting and exports while no file may grow beyond a size that chance chooses. Whatever does not fit is
/// said, with a code that says so; what was acknowledged is there, and nothing in halves. Panics with the seed otherwise.
pub fn disk(binary: &Path, seed: u64, runs: usize) -> DiskReport {
    let mut chance = Chance::new(seed);
    let home = Home::new(binary);
    let provider = ScriptedProvider::always(Reply::text("Noted, every word of it."));
    let mut report = DiskReport::default();
    let mut acknowledged = Vec::new();
    home.memoir(["-p", "The first words."]).provider(&provider).succeed();
    for step in 0..runs {
        // Around the size that the memory has now: that is where it hurts.
        let size = std::fs::metadata(home.database()).map_or(0, |file| file.len() / 512);
        let blocks = chance.below(size + size / 2 + 64);
        let prompt = format!("Step {step}: {}", "remember all of this. ".repeat(20));
        let run = match chance.below(5) {
            0 => home.memoir(["worker", "run", "--until-idle"]),
            1 => home.memoir(["memory", "forget", "--exchange", "999999", "--yes"]),
            2 => home.memoir(["export", "--format", "jsonl", "-o", "all.jsonl"]),
            _ => home.memoir(["-p", &prompt, "--output-format", "json"]),
        };
        let output = run.provider(&provider).with_files_up_to(blocks).output();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code().unwrap_or(-1);
        assert!(
            (0..=2).contains(&code) && !said.contains("panicked"),
            "seed {seed}, step {step}: exit {code}: {said}"
        );
        match code {
            0 => report.well += 1,
            _ => {
                assert!(!said.trim().is_empty(), "seed {seed}, step {step}: it says nothing");
                report.full += 1;
            }
        }
        let result: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        acknowledged.extend(result.and_then(|result| result["exchange_id"].as_i64()));
        let (faults, there) = faults_of(&home.database());
        assert!(faults.is_empty(), "seed {seed}, step {step}, {blocks} blocks: {faults:?}");
        let lost: Vec<_> = acknowledged.iter().filter(|id| !there.contains(id)).collect();
        assert!(lost.is_empty(), "seed {seed}, step {step}: exchanges {lost:?} are lost");
    }
    report
}
