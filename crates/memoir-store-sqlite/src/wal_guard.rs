//! The log that somebody left behind, while the memory is opened.
//!
//! When SQLite (3.51 at least) cannot open what processes share for writing, and closes the connection for that, it deletes a log that it has not
//! copied into the file: what was committed last would be lost, and the file damaged. So the log has a second name until the memory is open.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The log and its second name. Only who holds the lock for opening may have it.
pub(super) struct KeptLog {
    log: PathBuf,
    kept: PathBuf,
}

impl KeptLog {
    /// Gives the log of a database a second name, if there is one.
    pub(super) fn link(database: &Path) -> io::Result<Self> {
        let named = |ending: &str| {
            let mut name = database.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let kept = Self { log: named("-wal"), kept: named("-wal-kept") };
        // Whoever was killed while he opened it has left one. What it holds is in the file, or was to be: it may come twice.
        kept.put_back()?;
        match fs::hard_link(&kept.log, &kept.kept) {
            Ok(()) => Ok(kept),
            Err(error) => match error.kind() {
                // There is no log, or nothing has a second name there.
                io::ErrorKind::NotFound | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied => {
                    Ok(kept)
                }
                _ => Err(error),
            },
        }
    }

    /// Puts the log back if it is gone.
    pub(super) fn put_back(&self) -> io::Result<()> {
        if self.log.exists() || !self.kept.exists() {
            self.let_go()
        } else {
            fs::rename(&self.kept, &self.log)
        }
    }

    /// Takes the second name away.
    pub(super) fn let_go(&self) -> io::Result<()> {
        match fs::remove_file(&self.kept) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
