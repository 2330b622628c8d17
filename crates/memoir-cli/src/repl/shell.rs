//! `!command`: runs a command in the user's shell.

use tokio_util::sync::CancellationToken;

/// Runs a command in the user's shell. Its output is neither sent to the model nor saved.
pub(super) async fn run(command: &str, cancel: &CancellationToken) {
    if command.trim().is_empty() {
        note!("Type a command after the `!`, for example `!git status`.");
        return;
    }
    let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let child = tokio::process::Command::new(shell).arg("-c").arg(command).kill_on_drop(true).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            return note!("Could not start the shell: {error}. Set `SHELL` to an installed shell.");
        }
    };
    let result = tokio::select! {
        result = child.wait() => result,
        // The terminal sends Ctrl-C to the command as well, which may handle it. The second Ctrl-C kills the command.
        () = cancel.cancelled() => tokio::select! {
            result = child.wait() => result,
            _ = tokio::signal::ctrl_c() => return note!("Cancelled."),
        },
    };
    match result {
        Ok(status) if !status.success() => note!("[{status}]"),
        Ok(_) => {}
        Err(error) => note!("Could not get the exit status of the command: {error}."),
    }
}
