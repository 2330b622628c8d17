//! An answer on the screen as it grows: Markdown, block by block.

use std::io::{IsTerminal as _, Write as _, stdout};

use memoir_markdown::{Renderer, TerminalStyle};

use memoir_runtime::printable;

use crate::screen::screen_width;

/// A column is left free: some terminals wrap in the last one.
const MARGIN: usize = 1;

/// An answer that is being written.
pub(crate) struct AnswerView {
    renderer: Renderer,
}

impl AnswerView {
    pub(crate) fn new() -> Self {
        Self { renderer: Renderer::new(look()) }
    }

    /// Takes more of it, and shows what is complete. Says whether that was anything. `before` is done first.
    pub(crate) fn push(&mut self, text: &str, before: impl FnOnce()) -> bool {
        self.renderer.set_width(width());
        let ready = self.renderer.push(text);
        self.show(&ready, before)
    }

    /// Shows the rest.
    pub(crate) fn finish(&mut self, before: impl FnOnce()) -> bool {
        let rest = self.renderer.finish();
        self.show(&rest, before)
    }

    /// Whether something came that is not shown yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.renderer.is_waiting()
    }

    fn show(&self, text: &str, before: impl FnOnce()) -> bool {
        if text.is_empty() {
            return false;
        }
        before();
        // A reader that went away is noticed when the result is printed.
        let _ = write!(stdout(), "{text}").and_then(|()| stdout().flush());
        true
    }
}

/// Text as it is shown: on a screen, its lines are broken between words.
pub(crate) fn folded(text: &str) -> String {
    match stdout().is_terminal() {
        true => memoir_markdown::fold(text, width()),
        false => format!("{}\n", printable(text.trim_end_matches('\n'))),
    }
}

/// Markdown as it is shown on a screen; as it is written otherwise.
pub(crate) fn rendered(text: &str) -> String {
    if !stdout().is_terminal() {
        return format!("{}\n", printable(text.trim_end()));
    }
    let mut renderer = Renderer::new(look());
    let mut shown = renderer.push(text);
    shown.push_str(&renderer.finish());
    shown
}

fn width() -> usize {
    screen_width().saturating_sub(MARGIN).max(1)
}

/// How the terminal is: colours unless they are not wanted, links where a terminal says that it knows them.
pub(crate) fn look() -> TerminalStyle {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|kind| kind == "dumb");
    let color = stdout().is_terminal() && !set("NO_COLOR") && !dumb;
    let links = color
        && ["VTE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ITERM_SESSION_ID"]
            .into_iter()
            .any(set);
    TerminalStyle { width: width(), color, links }
}
