//! Renders an answer as Markdown, block by block, while it streams.

use std::io::{IsTerminal as _, Write as _, stdout};

use memoir_markdown::{Renderer, TerminalStyle};
use memoir_runtime::printable;

use crate::screen::text_width;

pub(crate) struct AnswerView {
    renderer: Renderer,
}

impl AnswerView {
    pub(crate) fn new() -> Self {
        Self { renderer: Renderer::new(terminal_style()) }
    }

    /// Adds text and prints every block that is now complete. Calls `before` before printing. Returns whether
    /// anything was printed.
    pub(crate) fn push(&mut self, text: &str, before: impl FnOnce()) -> bool {
        self.renderer.set_width(text_width());
        let ready = self.renderer.push(text);
        self.show(&ready, before)
    }

    /// Prints the rest of the answer. Calls `before` before printing. Returns whether anything was printed.
    pub(crate) fn finish(&mut self, before: impl FnOnce()) -> bool {
        let rest = self.renderer.finish();
        self.show(&rest, before)
    }

    /// Returns whether the answer has text that is not printed yet.
    pub(crate) fn has_pending_text(&self) -> bool {
        self.renderer.has_pending_text()
    }

    fn show(&self, text: &str, before: impl FnOnce()) -> bool {
        if text.is_empty() {
            return false;
        }
        before();
        // A closed stdout is detected when the result is printed.
        let _ = write!(stdout(), "{text}").and_then(|()| stdout().flush());
        true
    }
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

/// Returns the width and the capabilities of the terminal. Links are enabled only in terminals known to support them.
pub(crate) fn terminal_style() -> TerminalStyle {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|kind| kind == "dumb");
    let color = stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb;
    let links = color
        && ["VTE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ITERM_SESSION_ID"]
            .into_iter()
            .any(is_set);
    TerminalStyle { width: text_width(), color, links }
}
