//! `!command`: the user's own commands, in his own shell.

use anstream::eprintln;
use tokio_util::sync::CancellationToken;

/// Runs a command as it would run in a shell. Nothing of it is sent or kept but the line.
pub(super) async fn run(command: &str, cancel: &CancellationToken) {
    if command.trim().is_empty() {
        eprintln!("Write a command behind the !, as in !git status.");
        return;
    }
    let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let child = tokio::process::Command::new(shell).arg("-c").arg(command).kill_on_drop(true).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            return eprintln!("The shell cannot be started: {error}. Set SHELL to one that is there.");
        }
    };
    let ended = tokio::select! {
        ended = child.wait() => ended,
        // It was told, too: Ctrl-C goes to everyone at the terminal, and what it makes of that is its own business. The second ends it.
        () = cancel.cancelled() => tokio::select! {
            ended = child.wait() => ended,
            _ = tokio::signal::ctrl_c() => return eprintln!("Cancelled."),
        },
    };
    match ended {
        Ok(status) if !status.success() => eprintln!("[{status}]"),
        Ok(_) => {}
        Err(error) => eprintln!("The command was lost: {error}."),
    }
}
