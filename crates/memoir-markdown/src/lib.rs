//! Renders Markdown for a terminal while it streams.
//!
//! A [`Renderer`] accepts text in chunks and returns finished blocks. Output is final and is never redrawn. A
//! paragraph, heading or table is returned once it is complete; code is returned line by line, even inside lists and
//! quotes. [`Renderer::preview`] returns what is not complete yet, to be shown until it is. Every decision is made on whole lines, so the size of the chunks does not change the result.
//!
//! Each line passes through these modules: `clean` replaces control characters, `blocks` finds the containers
//! (`stack`) that the line belongs to and the blocks that it starts or ends (`marker`), `inline` parses a
//! complete block with pulldown-cmark, `wrap` and `table` lay it out, and `span` writes it. Code goes through
//! `code` to `highlight` or `diff`.
//!
//! ```
//! use memoir_markdown::{Renderer, TerminalStyle};
//!
//! let mut renderer = Renderer::new(TerminalStyle { width: 40, color: false, links: false });
//! let mut output = renderer.push("Hello, **wor");
//! output.push_str(&renderer.push("ld**"));
//! assert_eq!(output, "", "the paragraph is not complete yet");
//! assert_eq!(renderer.finish(), "Hello, **world**\n");
//! ```

mod blocks;
mod clean;
mod code;
mod cursor;
mod diff;
mod fence;
mod fold;
mod highlight;
mod inline;
mod link;
mod marker;
mod span;
mod stack;
mod table;
mod wrap;

use blocks::Blocks;
pub use diff::color_diff;
pub use fence::last_code_block;
pub use fold::{truncate_line, wrap_prose, wrap_text};

/// The capabilities of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Terminal width in columns.
    pub width: usize,
    /// Whether to use colors and styles. If not, no escape sequences are written and the Markdown markers are kept.
    pub color: bool,
    /// Whether the terminal supports hyperlinks (OSC 8). Ignored unless `color` is set.
    pub links: bool,
}

/// Renders a text while it streams in.
pub struct Renderer {
    blocks: Blocks,
    /// The last line, until its line break arrives.
    partial: String,
}

impl Renderer {
    /// Creates a renderer for a new text.
    pub fn new(terminal: TerminalStyle) -> Self {
        Self { blocks: Blocks::new(terminal), partial: String::new() }
    }

    /// Adds text and returns the finished output: whole lines, each with its line break, or an empty string.
    pub fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for piece in text.split_inclusive('\n') {
            self.partial.push_str(piece);
            if piece.ends_with('\n') {
                self.end_line(&mut out);
            }
        }
        out
    }

    /// Ends the text and returns the remaining output. Anything pushed afterwards starts a new text.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        if !self.partial.is_empty() {
            self.end_line(&mut out);
        }
        self.blocks.finish(&mut out);
        out
    }

    /// Returns what [`Self::finish`] would return now: the blocks that are not complete yet.
    pub fn preview(&self) -> String {
        let mut end = Self { blocks: self.blocks.clone(), partial: self.partial.clone() };
        end.finish()
    }

    /// Returns whether part of the text has not been rendered yet.
    pub fn has_pending_text(&self) -> bool {
        !self.partial.is_empty() || self.blocks.has_pending()
    }

    /// Sets the terminal width for everything that follows.
    pub fn set_width(&mut self, width: usize) {
        self.blocks.set_width(width);
    }

    fn end_line(&mut self, out: &mut String) {
        self.blocks.push_line(&clean::line(&self.partial), out);
        self.partial.clear();
    }
}
