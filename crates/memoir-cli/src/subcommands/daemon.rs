//! `memoir daemon`: tasks at their time, in the foreground.

use std::{fs::TryLockError, sync::Arc};

use anstream::{eprintln, println};
use memoir_core::{Clock as _, SystemClock};
use memoir_schedule::Event;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use memoir_runtime::{
    failure::{Failure, FailureKind},
    printable,
    tasks::TaskEngine,
};

/// A unit for the user's systemd.
pub(super) fn print_unit() -> Result<(), Failure> {
    let program = escaped(&std::env::current_exe()?.display().to_string());
    // The unit sees nothing of this shell: what leads here is written down, and where it is from the root.
    let mut variables = String::new();
    for name in ["MEMOIR_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) {
            let value = std::path::absolute(value)?;
            variables
                .push_str(&format!("Environment=\"{name}={}\"\n", escaped(&value.display().to_string())));
        }
    }
    println!(
        "# Save as ~/.config/systemd/user/memoir.service, then: systemctl --user enable --now memoir\n\
         [Unit]\nDescription=Memoir: tasks at their time\n\n\
         [Service]\nExecStart=\"{program}\" daemon\n{variables}\
         # Keys, a line each: ANTHROPIC_API_KEY=...\nEnvironmentFile=-%h/.config/memoir/environment\n\
         Restart=on-failure\n\n\
         [Install]\nWantedBy=default.target"
    );
    Ok(())
}

/// As systemd reads it inside quotation marks.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
}

/// Looks after tasks until it is told to stop.
pub(super) async fn run(engine: Arc<TaskEngine>) -> Result<(), Failure> {
    let path = engine.home.data().join("daemon.lock");
    let lock = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(Failure::new(FailureKind::Failed, "a daemon runs already")
                .hint("It does what is due; this one was not needed."));
        }
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let scheduler = engine.scheduler();
    let cancel = CancellationToken::new();
    let stopping = cancel.clone();
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        stopping.cancel();
    });
    log("looks after tasks");
    scheduler.look_after(engine, &cancel, &mut |event| log(&words(&event))).await;
    log("has stopped");
    drop(lock);
    Ok(())
}

fn log(text: &str) {
    eprintln!("{} memoir daemon: {}", SystemClock.now(), printable(text));
}

/// What happened, in a line.
pub(crate) fn words(event: &Event) -> String {
    match event {
        Event::Began(begun) => format!("{} begins (run {})", begun.task.what.name, begun.run),
        Event::Ended(begun, outcome) => {
            let why = outcome.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            format!("{} {} (run {}){why}", begun.task.what.name, outcome.state.words(), begun.run)
        }
        Event::WasCutOff(run) => format!("{} was cut off earlier (run {})", run.task, run.id),
        Event::Trouble(trouble) => trouble.clone(),
    }
}
