//! Protects the write-ahead log of a crashed process while the database is opened.
//!
//! If SQLite (at least in version 3.51) cannot open the shared-memory file for writing and closes the connection, it
//! deletes a log that it has not yet copied into the database. That loses the last commits and damages the file. A hard
//! link keeps the log alive until the database is open.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::files::with_suffix;

/// The log and its hard link. Use it only while holding the lock for opening.
pub(super) struct WalGuard {
    log: PathBuf,
    link: PathBuf,
}

impl WalGuard {
    /// Links the log of a database, if it has one.
    pub(super) fn link(database: &Path) -> io::Result<Self> {
        let guard = Self::recover(database)?;
        match fs::hard_link(&guard.log, &guard.link) {
            Ok(()) => Ok(guard),
            Err(error) => match error.kind() {
                // There is no log, or the file system does not support hard links.
                io::ErrorKind::NotFound | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied => {
                    Ok(guard)
                }
                _ => Err(error),
            },
        }
    }

    /// Restores the log from a link that a process killed while opening has left behind. Replaying a log that was
    /// already copied is harmless, but only before the database is replaced or changed.
    pub(super) fn recover(database: &Path) -> io::Result<Self> {
        let guard = Self { log: with_suffix(database, "-wal"), link: with_suffix(database, "-wal-kept") };
        guard.restore()?;
        Ok(guard)
    }

    /// Restores the log from the link if it was deleted, and removes the link.
    pub(super) fn restore(&self) -> io::Result<()> {
        if self.log.exists() || !self.link.exists() {
            self.release()
        } else {
            fs::rename(&self.link, &self.log)
        }
    }

    /// Removes the link, which may be missing, once the database is open.
    pub(super) fn release(&self) -> io::Result<()> {
        match fs::remove_file(&self.link) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
