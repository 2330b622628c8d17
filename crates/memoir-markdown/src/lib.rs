//! Markdown for a terminal, rendered while it streams.
//!
//! Text is taken in as it comes and given out block by block: what was given out is final and never drawn again. A
//! paragraph, a heading or a table is given out when it is complete, code line by line, within lists and quotes as well.
//! Every decision is made on whole lines, so it does not matter in which pieces a text arrives.
//!
//! The way of a line: `clean` takes out what could steer the terminal, `blocks` finds which containers (`stack`) it
//! stands in and what begins or ends with it (`marker`), `inline` has pulldown-cmark parse a block that is complete,
//! `wrap` and `table` lay it out, `span` paints it. Code goes through `code` to `highlight` or `diff`.

mod blocks;
mod clean;
mod code;
mod cursor;
mod diff;
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
pub use diff::diff;
pub use fold::fold;

/// How the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// So many columns it has.
    pub width: usize,
    /// Whether styles may be used. Without, no escape sequence is given out and the marks of Markdown stay.
    pub color: bool,
    /// Whether it knows hyperlinks (OSC 8). Counts only with colour.
    pub links: bool,
}

/// Renders one text, piece by piece.
pub struct Renderer {
    blocks: Blocks,
    /// The line that is not complete yet.
    partial: String,
}

impl Renderer {
    /// Begins a text.
    pub fn new(look: Look) -> Self {
        Self { blocks: Blocks::new(look), partial: String::new() }
    }

    /// Takes more text; gives what can be shown now: whole lines, each with its end, or nothing.
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

    /// The text ends: gives the rest. What is pushed afterwards is a new text.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        if !self.partial.is_empty() {
            self.end_line(&mut out);
        }
        self.blocks.finish(&mut out);
        out
    }

    /// Whether something was taken in that is not shown yet.
    pub fn is_waiting(&self) -> bool {
        !self.partial.is_empty() || self.blocks.is_waiting()
    }

    /// From now on the terminal is so wide.
    pub fn set_width(&mut self, width: usize) {
        self.blocks.set_width(width);
    }

    fn end_line(&mut self, out: &mut String) {
        self.blocks.line(&clean::line(&self.partial), out);
        self.partial.clear();
    }
}
