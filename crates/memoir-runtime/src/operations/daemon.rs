//! Running scheduled tasks until told to stop.

use std::{
    fs::{File, OpenOptions, TryLockError},
    sync::Arc,
};

use memoir_schedule::Event;
use tokio_util::sync::CancellationToken;

use crate::{
    failure::{Failure, FailureKind},
    home::Home,
    tasks::TaskEngine,
};

/// The right to be the only daemon of a home directory. Dropping it gives the right back.
pub struct DaemonLock {
    /// The lock lasts as long as the file is open.
    _file: File,
}

impl DaemonLock {
    /// Takes the lock.
    ///
    /// # Errors
    ///
    /// Fails if another daemon holds it, or if its file cannot be opened.
    pub fn acquire(home: &Home) -> Result<Self, Failure> {
        let path = home.data().join("daemon.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Failure::new(FailureKind::Failed, "a daemon runs already")
                .hint("It does what is due; this one was not needed.")),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

/// Runs tasks when they are due until `cancel` is cancelled, then waits for those that are running. `observe` is called
/// for every run that starts or ends.
pub async fn run(
    engine: Arc<TaskEngine>,
    cancel: &CancellationToken,
    observe: &mut (dyn FnMut(Event) + Send),
) {
    let scheduler = engine.scheduler();
    scheduler.look_after(engine, cancel, observe).await;
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn there_is_one_daemon_at_a_time() {
        let folder = tempfile::TempDir::new().unwrap();
        let home = Home::in_one(folder.path());
        let first = DaemonLock::acquire(&home).unwrap();
        assert!(DaemonLock::acquire(&home).is_err());
        drop(first);
        assert!(DaemonLock::acquire(&home).is_ok());
    }
}
