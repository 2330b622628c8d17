//! Text output. On a terminal, lines are wrapped between words.

use std::{
    io::{IsTerminal, stderr, stdout},
    os::fd::AsFd,
};

use memoir_runtime::printable;

/// Width assumed if the terminal does not report its size.
const DEFAULT_WIDTH: usize = 80;

/// Columns left free at the right edge, because some terminals wrap after the last column.
const MARGIN: usize = 1;

/// Prints a message to stdout.
macro_rules! say {
    ($($part:tt)*) => { $crate::screen::print_message(&format!($($part)*)) };
}

/// Prints a message to stderr.
macro_rules! note {
    ($($part:tt)*) => { $crate::screen::print_note(&format!($($part)*)) };
}

/// Prints a message to stdout, wrapped if it is a terminal.
pub(crate) fn print_message(text: &str) {
    anstream::println!("{}", wrap_text(text));
}

/// Prints a message to stdout like [`print_message`], dimmed.
pub(crate) fn print_dimmed(text: &str) {
    anstream::println!("{}", dim(&wrap_text(text)));
}

/// Prints a message to stderr, wrapped if it is a terminal.
pub(crate) fn print_note(text: &str) {
    anstream::eprintln!("{}", wrap_for(text, &stderr()));
}

/// Prints a message to stderr like [`print_note`], dimmed.
pub(crate) fn print_dimmed_note(text: &str) {
    anstream::eprintln!("{}", dim(&wrap_for(text, &stderr())));
}

/// Returns a text without its last newline, wrapped between words if stdout is a terminal.
pub(crate) fn wrap_text(text: &str) -> String {
    wrap_for(text, &stdout())
}

/// Returns the width of the terminal in columns.
pub(crate) fn terminal_width() -> usize {
    stream_width(&stdout())
}

/// Returns the number of columns for text.
pub(crate) fn text_width() -> usize {
    stream_width(&stdout()).saturating_sub(MARGIN)
}

fn wrap_for(text: &str, stream: &(impl IsTerminal + AsFd)) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if !stream.is_terminal() {
        return printable(text).into_owned();
    }
    let mut wrapped = memoir_markdown::wrap_text(text, stream_width(stream).saturating_sub(MARGIN));
    wrapped.pop();
    wrapped
}

fn stream_width(stream: &impl AsFd) -> usize {
    match rustix::termios::tcgetwinsize(stream) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => DEFAULT_WIDTH,
    }
}

fn dim(text: &str) -> String {
    let style = anstyle::Style::new().dimmed();
    format!("{style}{text}{style:#}")
}
