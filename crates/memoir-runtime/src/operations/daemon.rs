//! Running scheduled tasks until told to stop.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
    sync::Arc,
};

use memoir_schedule::Event;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{environment::Environment, failure::Failure, home::Home, tasks::TaskEngine};

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
            Err(TryLockError::WouldBlock) => Err(Failure::failed("a daemon runs already")
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

/// Runs tasks when they are due, beside whatever else the process does.
pub struct TaskRunner {
    cancel: CancellationToken,
    running: JoinHandle<()>,
}

impl TaskRunner {
    /// Starts to run tasks. `observe` is called for every run that starts or ends.
    pub fn start(engine: Arc<TaskEngine>, mut observe: impl FnMut(Event) + Send + 'static) -> Self {
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let running = tokio::spawn(async move { run(engine, &stop, &mut observe).await });
        Self { cancel, running }
    }

    /// Stops the running tasks, and waits until that is recorded.
    pub async fn stop(self) {
        self.cancel.cancel();
        if let Err(error) = self.running.await {
            // One that crashed has stopped as well.
            tracing::warn!(%error, "running tasks ended with an error");
        }
    }
}

/// Returns a unit that runs the daemon in the user's systemd. A unit sees nothing of this process, so it names the program and
/// the variables that lead to the memory.
///
/// # Errors
///
/// Fails if the path of the program is unknown, or if a variable is a relative path that cannot be resolved.
pub fn systemd_unit(environment: &Environment) -> Result<String, Failure> {
    let program = environment.program().ok_or_else(|| {
        Failure::failed("the path of this program is unknown").hint("Start it by its full path.")
    })?;
    let mut variables = String::new();
    for name in ["MEMOIR_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        let value = environment.variables().find(|(other, value)| other == name && !value.is_empty());
        if let Some((_, value)) = value {
            let value = std::path::absolute(value)?;
            variables.push_str(&format!("Environment=\"{name}={}\"\n", quote(&value)));
        }
    }
    Ok(format!(
        "# Save as ~/.config/systemd/user/memoir.service, then: systemctl --user enable --now memoir\n\
         [Unit]\nDescription=Memoir: tasks at their time\n\n\
         [Service]\nExecStart=\"{}\" daemon\n{variables}\
         # Keys, a line each: ANTHROPIC_API_KEY=...\nEnvironmentFile=-%h/.config/memoir/environment\n\
         Restart=on-failure\n\n\
         [Install]\nWantedBy=default.target",
        quote(program)
    ))
}

/// Returns a path as systemd reads it inside quotation marks.
fn quote(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
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
