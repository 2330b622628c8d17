//! Running scheduled tasks, either as a daemon or in the background of another process.

use std::{
    fs::{File, OpenOptions, TryLockError},
    sync::Arc,
};

use memoir_schedule::SchedulerEvent;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{failure::Failure, home::Home, tasks::TaskEngine};

/// Lock that ensures that a home directory has only one daemon. Dropping it releases the lock.
pub struct DaemonLock {
    /// Holds the lock for as long as it is open.
    _file: File,
}

impl DaemonLock {
    /// Acquires the lock without waiting.
    ///
    /// # Errors
    ///
    /// Fails if another daemon holds the lock, or if the lock file cannot be opened.
    pub fn acquire(home: &Home) -> Result<Self, Failure> {
        let path = home.data().join("daemon.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Failure::failed("a daemon is already running")
                .hint("It runs all scheduled tasks, so a second daemon is not needed.")),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

/// Runs tasks when they are due, until `cancel` is triggered. Then waits for the current runs to end. Calls `observe`
/// whenever a run starts or ends.
pub async fn run(
    engine: Arc<TaskEngine>,
    cancel: &CancellationToken,
    observe: &mut (dyn FnMut(SchedulerEvent) + Send),
) {
    let scheduler = engine.scheduler();
    scheduler.run_until_cancelled(engine, cancel, observe).await;
}

/// Runs due tasks in the background of the current process.
pub struct TaskRunner {
    cancel: CancellationToken,
    handle: JoinHandle<()>,
}

impl TaskRunner {
    /// Starts running tasks. Calls `observe` whenever a run starts or ends.
    pub fn start(engine: Arc<TaskEngine>, mut observe: impl FnMut(SchedulerEvent) + Send + 'static) -> Self {
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let handle = tokio::spawn(async move { run(engine, &stop, &mut observe).await });
        Self { cancel, handle }
    }

    /// Stops the current runs and waits until their outcomes are recorded.
    pub async fn stop(self) {
        self.cancel.cancel();
        if let Err(error) = self.handle.await {
            // A panic also stops the runner, so there is nothing left to stop.
            tracing::warn!(%error, "the task runner panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn only_one_daemon_can_hold_the_lock() {
        let directory = tempfile::TempDir::new().unwrap();
        let home = Home::in_directory(directory.path());
        let first = DaemonLock::acquire(&home).unwrap();
        assert!(DaemonLock::acquire(&home).is_err());
        drop(first);
        assert!(DaemonLock::acquire(&home).is_ok());
    }
}
