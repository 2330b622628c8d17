//! A disk that goes wrong, beneath the real binary: `bad_disk.c`, preloaded.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::Command,
};

use fastrand::Rng;

use super::random::draw_below;
use crate::{ProgramRun, TestHome};

/// What may be wrong with a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// It is full, from some moment on or for a while.
    Full,
    /// It cannot be written to any more, as when the system found it damaged, or from the beginning.
    ReadOnly,
    /// Writing or syncing fails, for a while.
    Broken,
    /// It takes its time to sync.
    Slow,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Full, Self::ReadOnly, Self::Broken, Self::Slow];

    /// What Linux calls it.
    fn error(self) -> u64 {
        match self {
            Self::Full => 28,
            Self::ReadOnly => 30,
            Self::Broken => 5,
            Self::Slow => 0,
        }
    }
}

/// A disk and when it goes wrong.
#[derive(Debug, Clone, Copy)]
pub struct BadDisk {
    trouble: Trouble,
    after: u64,
    lasts: u64,
    sync: u64,
    seed: u64,
}

/// More changes than any run makes.
const FOR_GOOD: u64 = 1 << 40;

impl BadDisk {
    /// Draws a disk that has this trouble, from a random change among the first `changes` changes of a file.
    pub fn draw(trouble: Trouble, changes: u64, random: &mut Rng) -> Self {
        let lasts = match trouble {
            Trouble::Full | Trouble::Broken if random.bool() => 1 + random.u64(..20),
            _ => FOR_GOOD,
        };
        let (after, seed) = (draw_below(random, changes), random.u64(..1 << 30));
        let sync = if trouble == Trouble::Slow { 100_000 } else { 0 };
        Self { trouble, after, lasts, sync, seed }
    }

    /// One that cannot be written to at all.
    pub fn read_only() -> Self {
        Self { trouble: Trouble::ReadOnly, after: 0, lasts: FOR_GOOD, sync: 0, seed: 0 }
    }

    /// One that fails for a few changes after so many.
    pub fn broken(after: u64, lasts: u64) -> Self {
        Self { trouble: Trouble::Broken, after, lasts, sync: 0, seed: 0 }
    }

    /// One whose syncs take up to so many milliseconds.
    pub fn slow(milliseconds: u64, seed: u64) -> Self {
        Self { trouble: Trouble::Slow, after: 0, lasts: FOR_GOOD, sync: milliseconds * 1000, seed }
    }

    /// Has a run keep its memory there.
    pub fn beneath(self, home: &TestHome, run: ProgramRun) -> ProgramRun {
        run.env("LD_PRELOAD", home.bad_disk())
            .env("BAD_DISK_UNDER", home.memoir_home())
            .env("BAD_DISK_ERROR", self.trouble.error().to_string())
            .env("BAD_DISK_AFTER", self.after.to_string())
            .env("BAD_DISK_LASTS", self.lasts.to_string())
            .env("BAD_DISK_SYNC", self.sync.to_string())
            .env("BAD_DISK_SEED", self.seed.to_string())
    }
}

impl fmt::Display for BadDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} after {} changes, for {}", self.trouble, self.after, self.lasts)
    }
}

/// Compiles the library into a folder.
pub(crate) fn compile(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("bad_disk.c"), folder.join("bad_disk.so"));
    std::fs::write(&source, include_str!("bad_disk.c")).unwrap();
    let mut cc = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    let made = cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl").output();
    // A C compiler is there: SQLite needs it as well.
    let made = made.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    library
}
