//! Remembers that a database is damaged, so that no process writes to it.
//!
//! Writing to a damaged database spreads the damage. A file next to the database says so to every process, until a
//! repair, a restored backup or a check that finds nothing removes it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use memoir_store::StoreFault;

use super::files::{remove_derived_file, with_suffix};

/// Number of statements of this process that failed because of damage. Errors are converted where the store is not
/// known, so every store checks its database before its next write.
static FAILURES: AtomicU64 = AtomicU64::new(0);

/// Notes that a statement failed because of damage.
pub(super) fn suspect() {
    FAILURES.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of statements that failed because of damage.
pub(super) fn failures() -> u64 {
    FAILURES.load(Ordering::Relaxed)
}

/// The file that describes the damage of a database.
#[derive(Debug, Clone)]
pub(super) struct DamageNote(PathBuf);

impl DamageNote {
    /// Returns the note about a database. It may not exist.
    pub(super) fn of(database: &Path) -> Self {
        Self(with_suffix(database, "-damaged"))
    }

    /// Returns the description of the damage, if there is any.
    pub(super) fn read(&self) -> Option<String> {
        fs::read_to_string(&self.0).ok().map(|reason| reason.trim_end().to_owned())
    }

    /// Writes or removes the note, depending on what a check found.
    pub(super) fn update(&self, faults: &[StoreFault]) {
        let damage = faults.iter().find_map(|fault| match fault {
            StoreFault::Damage(reason) => Some(reason),
            StoreFault::Orphans { .. } => None,
        });
        match damage {
            Some(reason) => self.write(reason),
            None => self.remove(),
        }
    }

    /// Writes the note.
    pub(super) fn write(&self, reason: &str) {
        // Where nothing can be written, the database is not written either.
        if let Err(error) = fs::write(&self.0, reason) {
            tracing::warn!(%error, reason, "could not note that the database is damaged");
        }
    }

    /// Removes the note.
    pub(super) fn remove(&self) {
        remove_derived_file(&self.0);
    }
}
