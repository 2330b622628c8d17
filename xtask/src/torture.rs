//! Trying to break it for as long as it is told: the long forms of `memoir-cli/tests/torture`.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use memoir_testkit::torture::{crash, faults, load};
#[cfg(target_os = "linux")]
use memoir_testkit::torture::{disk, flat};

use crate::{ChoreError, ChoreResult};

/// Kills in a round.
const KILLS: usize = 300;

/// So many rounds at least, whatever the time: three thousand kills.
const ROUNDS: u64 = 10;

/// Many at once come in every so many rounds: they take two minutes.
const LOAD_EVERY: u64 = 5;

/// Turns of the sitting that is watched for what it holds.
#[cfg(target_os = "linux")]
const TURNS: usize = 10_000;

/// Milliseconds that a sync of a slow disk takes at most.
const SYNC: u64 = 50;

/// Goes through everything again and again, each round with another seed, until the time is over and the rounds are done. The first thing
/// that does not hold panics, with its seed; and it fails where too little was done to tell anything.
pub(crate) fn torture(binary: &Path, minutes: u64, seed: u64) -> ChoreResult {
    if !binary.is_file() {
        let missing = format!("{} does not exist. Build it first: cargo build --release", binary.display());
        return Err(ChoreError::Failed(missing));
    }
    let until = Instant::now() + Duration::from_secs(minutes * 60);
    let (mut round, mut kills) = (0, 0);
    while round < ROUNDS || Instant::now() < until {
        let seed = seed + round;
        let crashed = crash(binary, seed, KILLS);
        kills += KILLS;
        report(seed, &crashed.to_string(), crashed.too_little())?;
        let failed = faults(binary, seed, 200);
        report(seed, &format!("a provider that fails: {failed:?}"), failed.too_little())?;
        on_a_bad_disk(binary, seed)?;
        if round % LOAD_EVERY == 0 {
            for (sync, what) in [(0, "many at once"), (SYNC, "with slow syncs")] {
                let worked = load(binary, seed, (10, 50), Duration::from_secs(60), sync);
                report(seed, &format!("{what}: {worked:?}"), worked.too_little())?;
            }
        }
        round += 1;
    }
    if minutes >= 30 {
        in_one_sitting(binary)?;
    }
    Ok(format!("{round} rounds, {kills} kills: everything held."))
}

/// Prints the result of a round, and fails if it did too little to prove anything.
fn report(seed: u64, what: &str, too_little: Option<String>) -> Result<(), ChoreError> {
    println!("seed {seed}: {what}");
    too_little.map_or(Ok(()), |what| Err(ChoreError::Failed(format!("seed {seed}: {what}"))))
}

#[cfg(target_os = "linux")]
fn on_a_bad_disk(binary: &Path, seed: u64) -> Result<(), ChoreError> {
    let outcome = disk(binary, seed, 200);
    report(seed, &format!("a bad disk, well and ill: {outcome:?}"), outcome.too_little())
}

#[cfg(target_os = "linux")]
fn in_one_sitting(binary: &Path) -> Result<(), ChoreError> {
    let report = flat(binary, TURNS);
    println!("{TURNS} turns in one sitting: {report:?}");
    report.too_much().map_or(Ok(()), |what| Err(ChoreError::Failed(what)))
}

/// Disks are bad, and processes tell what they hold, on Linux alone.
#[cfg(not(target_os = "linux"))]
fn on_a_bad_disk(_: &Path, _: u64) -> Result<(), ChoreError> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn in_one_sitting(_: &Path) -> Result<(), ChoreError> {
    Ok(())
}
