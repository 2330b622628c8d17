//! `memoir daemon`: tasks at their time, in the foreground.

use std::sync::Arc;

use anstream::{eprintln, println};
use memoir_core::{Clock as _, SystemClock};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use memoir_runtime::{
    failure::Failure,
    operations::daemon::{self, DaemonLock},
    printable,
    tasks::TaskEngine,
};

use crate::render::tasks::describe_event;

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

/// Runs tasks until it is told to stop.
pub(super) async fn run(engine: Arc<TaskEngine>) -> Result<(), Failure> {
    let _lock = DaemonLock::acquire(&engine.home)?;
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
    daemon::run(engine, &cancel, &mut |event| log(&describe_event(&event))).await;
    log("has stopped");
    Ok(())
}

fn log(text: &str) {
    eprintln!("{} memoir daemon: {}", SystemClock.now(), printable(text));
}
