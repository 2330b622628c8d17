//! Trying to break it for as long as it is told: the long forms of `memoir-cli/tests/torture`.

use std::{
    path::Path,
    time::{Duration, Instant},
};

#[cfg(target_os = "linux")]
use memoir_testkit::torture::disk;
use memoir_testkit::torture::{crash, faults, flat, load};

use crate::Outcome;

/// Kills in a round.
const KILLS: usize = 300;

/// So many rounds at least, whatever the time: three thousand kills.
const ROUNDS: u64 = 10;

/// Many at once come in every so many rounds: they take two minutes.
const LOAD_EVERY: u64 = 5;

/// Turns of the sitting that is watched for what it holds.
const TURNS: usize = 10_000;

/// Milliseconds that a sync of a slow disk takes at most.
const SYNC: u64 = 50;

/// So much a long sitting may hold more than a short one, in kB.
const SLACK: u64 = 40_000;

/// Goes through everything again and again, each round with another seed, until the time is over and the rounds are done. The first thing
/// that does not hold panics, with its seed.
pub(crate) fn torture(binary: &Path, minutes: u64, seed: u64) -> Outcome {
    if !binary.is_file() {
        return Err(format!("{} is not there. Build it first: cargo build --release", binary.display()));
    }
    let until = Instant::now() + Duration::from_secs(minutes * 60);
    let (mut round, mut kills) = (0, 0);
    while round < ROUNDS || Instant::now() < until {
        let seed = seed + round;
        let crashed = crash(binary, seed, KILLS);
        kills += KILLS;
        println!("seed {seed}: {crashed}");
        println!("seed {seed}: a provider that fails, by exit code: {:?}", faults(binary, seed, 200));
        #[cfg(target_os = "linux")]
        println!("seed {seed}: a bad disk, well and ill: {:?}", disk(binary, seed, 200));
        if round % LOAD_EVERY == 0 {
            let minute = Duration::from_secs(60);
            println!("seed {seed}: {:?}", load(binary, seed, (10, 50), minute, 0));
            println!("seed {seed}: with slow syncs: {:?}", load(binary, seed, (10, 50), minute, SYNC));
        }
        round += 1;
    }
    if minutes >= 30 {
        let (early, late) = flat(binary, TURNS);
        println!("{TURNS} turns in one sitting: {early} kB after a third, {late} kB at the end");
        if late > early + SLACK {
            return Err(format!("it grew from {early} kB to {late} kB"));
        }
    }
    Ok(format!("{round} rounds, {kills} kills: everything held."))
}
