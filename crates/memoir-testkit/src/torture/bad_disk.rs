//! Simulates a failing disk by preloading `bad_disk.c` into the real binary.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::Command,
};

use fastrand::Rng;

use super::random::draw_below;
use crate::{ProgramRun, TestHome};

/// A kind of disk failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiskFault {
    /// The disk is full, temporarily or permanently.
    Full,
    /// The disk is read-only, for example because the system remounted it after an error.
    ReadOnly,
    /// Writes and syncs fail temporarily or permanently.
    Broken,
    /// Syncs are slow but succeed.
    Slow,
}

impl DiskFault {
    /// All kinds of failure.
    pub const ALL: [Self; 4] = [Self::Full, Self::ReadOnly, Self::Broken, Self::Slow];

    /// Returns the Linux error number.
    fn error_number(self) -> u64 {
        match self {
            Self::Full => 28,
            Self::ReadOnly => 30,
            Self::Broken => 5,
            Self::Slow => 0,
        }
    }
}

/// A failing disk, with the time and the duration of the failure.
#[derive(Debug, Clone, Copy)]
pub struct BadDisk {
    fault: DiskFault,
    /// Number of changes that succeed before the first failure.
    after: u64,
    /// Number of changes that fail.
    duration: u64,
    /// Maximum duration of a sync in microseconds.
    max_sync: u64,
    seed: u64,
}

/// More changes than any run makes.
const PERMANENT: u64 = 1 << 40;

impl BadDisk {
    /// Draws a disk with this fault, which starts at a random change among the first `changes`.
    pub fn draw(fault: DiskFault, changes: u64, random: &mut Rng) -> Self {
        let duration = match fault {
            DiskFault::Full | DiskFault::Broken if random.bool() => 1 + random.u64(..20),
            _ => PERMANENT,
        };
        let (after, seed) = (draw_below(random, changes), random.u64(..1 << 30));
        let max_sync = if fault == DiskFault::Slow { 100_000 } else { 0 };
        Self { fault, after, duration, max_sync, seed }
    }

    /// Creates a disk that is read-only from the start.
    pub fn read_only() -> Self {
        Self { fault: DiskFault::ReadOnly, after: 0, duration: PERMANENT, max_sync: 0, seed: 0 }
    }

    /// Creates a disk that is full from the start.
    pub fn full() -> Self {
        Self { fault: DiskFault::Full, ..Self::read_only() }
    }

    /// Creates a disk on which `duration` changes fail after the first `after` changes.
    pub fn broken(after: u64, duration: u64) -> Self {
        Self { fault: DiskFault::Broken, after, duration, max_sync: 0, seed: 0 }
    }

    /// Creates a disk whose syncs take up to `milliseconds`.
    pub fn slow(milliseconds: u64, seed: u64) -> Self {
        Self { fault: DiskFault::Slow, after: 0, duration: PERMANENT, max_sync: milliseconds * 1000, seed }
    }

    /// Makes a run store its files on this disk.
    pub fn apply(self, home: &TestHome, run: ProgramRun) -> ProgramRun {
        run.env("LD_PRELOAD", home.bad_disk())
            .env("BAD_DISK_UNDER", home.memoir_home())
            .env("BAD_DISK_ERROR", self.fault.error_number().to_string())
            .env("BAD_DISK_AFTER", self.after.to_string())
            .env("BAD_DISK_LASTS", self.duration.to_string())
            .env("BAD_DISK_SYNC", self.max_sync.to_string())
            .env("BAD_DISK_SEED", self.seed.to_string())
    }
}

impl fmt::Display for BadDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} after {} changes, for {} changes", self.fault, self.after, self.duration)
    }
}

/// Compiles the library into a directory and returns its path.
pub(crate) fn compile(directory: &Path) -> PathBuf {
    let (source, library) = (directory.join("bad_disk.c"), directory.join("bad_disk.so"));
    std::fs::write(&source, include_str!("bad_disk.c")).unwrap();
    // A C compiler is available, because SQLite needs it as well.
    let mut cc = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl");
    let output = cc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}
