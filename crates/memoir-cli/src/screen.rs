//! Text output. On a terminal, lines are wrapped between words.

use std::{
    io::{IsTerminal, stderr, stdout},
    os::fd::AsFd,
    sync::atomic::{AtomicBool, Ordering},
};

use memoir_markdown::{Renderer, TerminalStyle};
use memoir_runtime::printable;

use crate::live::Size;

/// Size assumed if the terminal does not report its own.
const DEFAULT_SIZE: Size = Size { rows: 24, columns: 80 };

/// Whether lines are only printed, never redrawn.
static IS_PLAIN: AtomicBool = AtomicBool::new(false);

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

/// Prints lines without colors and without redrawing any, for screen readers.
pub(crate) fn set_plain() {
    IS_PLAIN.store(true, Ordering::Relaxed);
    anstream::ColorChoice::Never.write_global();
}

/// Returns whether lines can be redrawn.
pub(crate) fn can_redraw() -> bool {
    stdout().is_terminal() && !is_plain()
}

/// Returns whether lines are only printed, because the user or the terminal asks for it.
pub(crate) fn is_plain() -> bool {
    IS_PLAIN.load(Ordering::Relaxed) || std::env::var_os("TERM").is_none_or(|kind| kind == "dumb")
}

/// Returns the size of the terminal.
pub(crate) fn terminal_size() -> Size {
    stream_size(&stdout())
}

/// Returns the width and the capabilities of the terminal. Links are enabled only in terminals known to support them.
pub(crate) fn terminal_style() -> TerminalStyle {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let color = stdout().is_terminal() && !is_set("NO_COLOR") && !is_plain();
    let links = color
        && ["VTE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ITERM_SESSION_ID"]
            .into_iter()
            .any(is_set);
    TerminalStyle { width: text_width(), color, links }
}

/// Returns rendered Markdown if stdout is a terminal, or else its source.
pub(crate) fn render_markdown(text: &str) -> String {
    if !stdout().is_terminal() {
        return format!("{}\n", printable(text.trim_end()));
    }
    let mut renderer = Renderer::new(terminal_style());
    let mut output = renderer.push(text);
    output.push_str(&renderer.finish());
    output
}

/// Returns the number of columns for text.
pub(crate) fn text_width() -> usize {
    terminal_size().columns.saturating_sub(MARGIN)
}

fn wrap_for(text: &str, stream: &(impl IsTerminal + AsFd)) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if !stream.is_terminal() {
        return printable(text).into_owned();
    }
    let mut wrapped = memoir_markdown::wrap_text(text, stream_size(stream).columns.saturating_sub(MARGIN));
    wrapped.pop();
    wrapped
}

fn stream_size(stream: &impl AsFd) -> Size {
    match rustix::termios::tcgetwinsize(stream) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            Size { rows: usize::from(size.ws_row), columns: usize::from(size.ws_col) }
        }
        _ => DEFAULT_SIZE,
    }
}

fn dim(text: &str) -> String {
    if is_plain() {
        return text.to_owned();
    }
    let style = anstyle::Style::new().dimmed();
    format!("{style}{text}{style:#}")
}
