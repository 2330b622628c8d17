//! Running scheduled tasks, either as a daemon or in the background of another process.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
    sync::Arc,
};

use memoir_schedule::SchedulerEvent;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{environment::Environment, failure::Failure, home::Home, tasks::TaskEngine};

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

/// Returns a systemd user unit that runs the daemon. systemd does not pass on the environment of this process, so the
/// unit contains the path of the program and the variables that determine where the database is.
///
/// # Errors
///
/// Fails if the path of the program is unknown, or if a relative path in a variable cannot be resolved.
pub fn systemd_unit(environment: &Environment) -> Result<String, Failure> {
    let program = environment.program().ok_or_else(|| {
        Failure::failed("could not determine the path of this program")
            .hint("Start `memoir` by its full path.")
    })?;
    let mut variables = String::new();
    for name in ["MEMOIR_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        let value = environment.variables().find(|(other, value)| other == name && !value.is_empty());
        if let Some((_, value)) = value {
            let value = std::path::absolute(value)?;
            variables.push_str(&format!("Environment=\"{name}={}\"\n", escape(&value)));
        }
    }
    Ok(format!(
        "# Save as ~/.config/systemd/user/memoir.service, then: systemctl --user enable --now memoir\n\
         [Unit]\nDescription=Memoir scheduled tasks\n\n\
         [Service]\nExecStart=\"{}\" daemon\n{variables}\
         # API keys, one per line: ANTHROPIC_API_KEY=...\nEnvironmentFile=-%h/.config/memoir/environment\n\
         Restart=on-failure\n\n\
         [Install]\nWantedBy=default.target",
        escape(program)
    ))
}

/// Escapes a path for use in double quotes in a systemd unit.
fn escape(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
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
