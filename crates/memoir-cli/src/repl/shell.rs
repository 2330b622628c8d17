//! `!command`: runs a command in the user's shell.

use memoir_runtime::printable;
use tokio_util::sync::CancellationToken;

use crate::screen::print_dimmed;

/// Runs a command in the user's shell. Its output is neither sent to the model nor saved. A command that starts with `!`
/// begins with the last command.
pub(super) async fn run(command: &str, last: &mut String, cancel: &CancellationToken) {
    let command = match command.strip_prefix('!') {
        Some(_) if last.is_empty() => {
            return note!(
                "There is no command to repeat. Type one after the `!`, for example `!git status`."
            );
        }
        Some(rest) => {
            let command = format!("{last}{rest}");
            print_dimmed(&printable(&command));
            command
        }
        None => command.to_owned(),
    };
    last.clone_from(&command);
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
