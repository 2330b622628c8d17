//! Runs the torture tests of `memoir-cli/tests/torture` for as long as requested.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use memoir_testkit::torture::{ProgramsSize, crash, faults, load, programs};
#[cfg(target_os = "linux")]
use memoir_testkit::torture::{disk, measure_memory_use};

use crate::{ChoreError, ChoreResult};

/// Number of kills per round.
const KILLS: usize = 300;

/// Minimum number of rounds, regardless of the time: three thousand kills.
const MIN_ROUNDS: u64 = 10;

/// The load test takes two minutes, so it runs only in every fifth round.
const LOAD_INTERVAL: u64 = 5;

/// Number of turns in the session that is checked for memory growth.
#[cfg(target_os = "linux")]
const TURNS: usize = 10_000;

/// Twenty servers with ten thousand calls in total, and a thousand turns of agents with two hooks each.
const PROGRAMS: ProgramsSize = ProgramsSize { servers: 20, calls: 500, agents: 5, turns: 200 };

/// Maximum duration of a sync on the slow disk, in milliseconds.
const MAX_SYNC_MS: u64 = 50;

/// Repeats all tests, each round with another seed, until both the time and the minimum number of rounds are reached.
///
/// Panics with the seed at the first violation. Fails if a round did too little to prove anything.
pub(crate) fn torture(binary: &Path, minutes: u64, seed: u64) -> ChoreResult {
    check_program(binary)?;
    check_unsafe_code()?;
    let until = Instant::now() + Duration::from_secs(minutes * 60);
    let (mut round, mut kills) = (0, 0);
    while round < MIN_ROUNDS || Instant::now() < until {
        let seed = seed + round;
        let crashes = crash(binary, seed, KILLS);
        kills += KILLS;
        report(seed, &crashes.to_string(), crashes.shortfall())?;
        let faults = faults(binary, seed, 200);
        report(seed, &format!("a failing provider: {faults:?}"), faults.shortfall())?;
        torture_disk(binary, seed)?;
        if round % LOAD_INTERVAL == 0 {
            soak(binary, seed)?;
            for (sync, what) in [(0, "many processes"), (MAX_SYNC_MS, "many processes with slow syncs")] {
                let work = load(binary, seed, (10, 50), Duration::from_secs(60), sync);
                report(seed, &format!("{what}: {work:?}"), work.shortfall())?;
            }
        }
        round += 1;
    }
    if minutes >= 30 {
        check_memory_growth(binary)?;
    }
    Ok(format!("{round} rounds, {kills} kills: everything held."))
}

/// Lets other programs use one memory at the same time.
///
/// Panics if something is lost or stored twice. Fails if too little was done to prove anything.
pub(crate) fn soak(binary: &Path, seed: u64) -> ChoreResult {
    check_program(binary)?;
    let programs = programs(binary, seed, PROGRAMS);
    report(seed, &format!("other programs: {programs}"), programs.shortfall())?;
    Ok("nothing was lost or stored twice.".into())
}

fn check_program(binary: &Path) -> Result<(), ChoreError> {
    match binary.is_file() {
        true => Ok(()),
        false => {
            let missing = format!("{} does not exist. Run `cargo build --release` first.", binary.display());
            Err(ChoreError::Failed(missing))
        }
    }
}

/// Runs the tests of the crates with unsafe loads and stores with the address sanitizer, which only unstable options
/// turn on.
fn check_unsafe_code() -> Result<(), ChoreError> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let status = Command::new(cargo)
        .args(["test", "-q", "-p", "memoir-index", "-p", "memoir-embed", "--lib", "--target", &target])
        .args(["--target-dir", "target/sanitized"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(ChoreError::Failed("the tests of unsafe code failed with the address sanitizer.".into())),
    }
}

/// Prints the result of a round. Fails if the round did too little to prove anything.
fn report(seed: u64, what: &str, shortfall: Option<String>) -> Result<(), ChoreError> {
    println!("seed {seed}: {what}");
    shortfall.map_or(Ok(()), |what| Err(ChoreError::Failed(format!("seed {seed}: {what}"))))
}

#[cfg(target_os = "linux")]
fn torture_disk(binary: &Path, seed: u64) -> Result<(), ChoreError> {
    let outcome = disk(binary, seed, 200);
    report(seed, &format!("a failing disk: {outcome:?}"), outcome.shortfall())
}

#[cfg(target_os = "linux")]
fn check_memory_growth(binary: &Path) -> Result<(), ChoreError> {
    let report = measure_memory_use(binary, TURNS);
    println!("{TURNS} turns in one session: {report:?}");
    report.excess().map_or(Ok(()), |what| Err(ChoreError::Failed(what)))
}

/// Faulty disks and memory use can be simulated and measured on Linux only.
#[cfg(not(target_os = "linux"))]
fn torture_disk(_: &Path, _: u64) -> Result<(), ChoreError> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn check_memory_growth(_: &Path) -> Result<(), ChoreError> {
    Ok(())
}
