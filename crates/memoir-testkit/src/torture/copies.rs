//! Backups and repairs in the torture tests.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    PromptsAndAnswers,
    crash::wait,
    promises::find_lost,
    random::{pick, seed_step},
};
use crate::{TestHome, database::inspect};

/// Name of the database in a backup.
pub(super) const DATABASE: &str = "memoir.db";

/// Number of backups that are kept, so that a deletion has to deal with several.
const KEPT_BACKUPS: usize = 2;

/// Number of damaged memories whose repair is interrupted, and of interruptions of each.
const DAMAGED: u64 = 3;
const INTERRUPTIONS: u64 = 4;

/// Size of a page of the database.
const PAGE_BYTES: usize = 4096;

/// Returns the directory of the daily backup of a day, which depends on the step.
pub(super) fn backup_directory(home: &TestHome, step: u64) -> PathBuf {
    let day = format!("{:04}-{:02}-{:02}", 2000 + step / 336, 1 + step / 28 % 12, 1 + step % 28);
    backups_directory(home).join(day)
}

fn backups_directory(home: &TestHome) -> PathBuf {
    home.memoir_home().join("backups")
}

/// Returns the directories of the backups, complete or not.
pub(super) fn backups(home: &TestHome) -> impl Iterator<Item = PathBuf> {
    subdirectories(&backups_directory(home)).into_iter()
}

/// Returns whether a backup exists.
///
/// # Panics
///
/// Panics if it is incomplete.
pub(super) fn check_backup(directory: &Path, expected: &PromptsAndAnswers, step: &str) -> bool {
    if !directory.exists() {
        return false;
    }
    let inspection = inspect(&directory.join(DATABASE));
    assert!(inspection.faults.is_empty(), "{step}: {:?}", inspection.faults);
    let lost = find_lost(expected, &inspection.exchanges);
    assert!(lost.is_empty(), "{step}: exchanges {lost:?} are missing from the backup");
    true
}

/// Removes all but the newest backups, and what repairs have set aside.
pub(super) fn remove_old(home: &TestHome) {
    let mut backups: Vec<PathBuf> = backups(home).collect();
    backups.sort();
    backups.truncate(backups.len().saturating_sub(KEPT_BACKUPS));
    for directory in backups.into_iter().chain(set_aside(home)) {
        fs::remove_dir_all(directory).unwrap();
    }
}

/// Returns the directories in which repairs keep damaged memories.
fn set_aside(home: &TestHome) -> impl Iterator<Item = PathBuf> {
    let is_set_aside = |path: &PathBuf| path.to_string_lossy().contains("before-repair");
    subdirectories(&home.memoir_home()).into_iter().filter(is_set_aside)
}

fn subdirectories(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

/// Damages copies of a memory, kills their repair several times, and checks that the repair that finally completes
/// salvages as much as one that is not interrupted.
///
/// # Panics
///
/// Panics with the seed if a check fails.
pub(super) fn interrupt_repairs(home: &TestHome, seed: u64) {
    let intact = fs::read(home.database()).unwrap();
    for round in 0..DAMAGED {
        let mut random = seed_step(seed, round);
        let mut damaged = intact.clone();
        // The header stays, so that every attempt sees the same damage.
        let pages: Vec<usize> = (1..damaged.len() / PAGE_BYTES).collect();
        for _ in 0..3 {
            let start = pick(&mut random, &pages) * PAGE_BYTES;
            damaged[start..start + PAGE_BYTES].fill(0);
        }
        let step = format!("seed {seed}, damaged memory {round}");
        let started = Instant::now();
        let expected = repair(&damaged, home, &[], &step);
        let duration = started.elapsed();
        let moments: Vec<Duration> = (0..INTERRUPTIONS).map(|_| duration.mul_f64(random.f64())).collect();
        let salvaged = repair(&damaged, home, &moments, &step);
        assert_eq!(salvaged, expected, "{step}: interruptions at {moments:?} have lost exchanges");
    }
}

/// Repairs a damaged memory after interruptions. Returns what was salvaged.
fn repair(damaged: &[u8], like: &TestHome, interruptions: &[Duration], step: &str) -> PromptsAndAnswers {
    let home = TestHome::new(like.binary());
    fs::create_dir_all(home.memoir_home()).unwrap();
    fs::write(home.database(), damaged).unwrap();
    for &moment in interruptions {
        let mut child = home.memoir(["repair"]).spawn();
        if wait(&mut child, moment).is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    home.memoir(["repair"]).succeed();
    let inspection = inspect(&home.database());
    assert!(inspection.faults.is_empty(), "{step}: {:?}", inspection.faults);
    inspection.exchanges
}
