//! Shows long texts one page at a time.

use std::{
    io::{IsTerminal as _, Write as _, stdin, stdout},
    path::Path,
    process::{Command, Stdio},
};

use memoir_runtime::Failure;

use crate::screen::{is_plain, terminal_size};

/// Program that shows pages, and its arguments, if the user has not set `PAGER`.
const DEFAULT_PAGER: &str = "less -R";

/// The part of a text that is shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    Start,
    End,
}

/// Prints a text that is ready for the terminal. If it is longer than the screen, opens it in the user's pager.
pub(crate) fn show(text: &str, position: Position) -> Result<(), Failure> {
    let needs_pages = text.lines().count() >= terminal_size().rows;
    if needs_pages && stdout().is_terminal() && stdin().is_terminal() && !is_plain() && page(text, position) {
        return Ok(());
    }
    Ok(writeln!(stdout(), "{}", text.trim_end())?)
}

/// Shows a text in the pager. Returns `false` if there is none.
fn page(text: &str, position: Position) -> bool {
    let pager = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let words = shlex::split(pager.as_deref().unwrap_or(DEFAULT_PAGER)).unwrap_or_default();
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    if position == Position::End && Path::new(program).file_name().is_some_and(|name| name == "less") {
        command.arg("+G");
    }
    if std::env::var_os("LESS").is_none() {
        // Like git: colors, and the text stays on the screen.
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // The user may leave the pager before the end.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait().is_ok_and(|status| status.success())
}
