//! Splits text into blocks, line by line. Each line is scanned once. It continues some of the open
//! containers, may end others and start new ones, and belongs to the open block in the innermost container.
//!
//! The rules are those of CommonMark, with two exceptions. HTML does not start a block: tags are shown
//! verbatim, and the Markdown between them is rendered. A blank line separates only the two list items around
//! it, because the end of the list is not known yet.

use crate::{
    TerminalStyle,
    code::{Code, CodeLine},
    cursor::Cursor,
    inline::{self, ParsedBlock},
    marker::{self, Fence},
    span::{DIM, StyledLine, StyledSpan, paint, trim_end},
    stack::{Stack, skip_quote_marker},
    wrap::wrap,
};

/// Columns of indentation that make a line code or the continuation of a paragraph.
const CODE_INDENT: usize = 4;
/// Maximum width of a horizontal rule.
const MAX_RULE_WIDTH: usize = 80;

#[derive(Clone)]
pub(crate) struct Blocks {
    terminal: TerminalStyle,
    stack: Stack,
    leaf: Leaf,
    /// Whether a block has been written.
    has_output: bool,
    /// Whether a blank line has followed the last block.
    has_blank_line: bool,
    /// Whether the next block follows the previous one without a blank line.
    is_joined: bool,
    /// Number of bytes scanned or parsed, counting repetitions.
    #[cfg(test)]
    work: usize,
}

/// The innermost open block, which is not a container.
#[derive(Clone)]
enum Leaf {
    None,
    /// A paragraph, heading or table, which is parsed once it is complete.
    Text(Text),
    Code(Box<Code>),
}

#[derive(Clone)]
struct Text {
    source: String,
    is_definition: bool,
}

impl Text {
    fn new(line: &str) -> Self {
        Self { source: line.to_owned(), is_definition: marker::is_definition(line) }
    }
}

impl Blocks {
    pub(crate) fn new(terminal: TerminalStyle) -> Self {
        Self {
            terminal,
            stack: Stack::default(),
            leaf: Leaf::None,
            has_output: false,
            has_blank_line: false,
            is_joined: false,
            #[cfg(test)]
            work: 0,
        }
    }

    pub(crate) fn set_width(&mut self, width: usize) {
        self.terminal.width = width;
    }

    pub(crate) fn has_pending(&self) -> bool {
        matches!(self.leaf, Leaf::Text(_)) || self.stack.has_pending()
    }

    /// Ends all open blocks and resets the state.
    pub(crate) fn finish(&mut self, out: &mut String) {
        self.close_to(0, out);
        *self = Self::new(self.terminal);
    }

    /// Adds a line, without its line break.
    pub(crate) fn push_line(&mut self, text: &str, out: &mut String) {
        #[cfg(test)]
        {
            self.work += text.len();
        }
        let mut cursor = Cursor::new(text);
        let depth = self.stack.match_line(&mut cursor);
        if depth == self.stack.len() && self.put_code(&mut cursor, out) {
            return;
        }
        if matches!(self.leaf, Leaf::Code(_)) {
            self.close_leaf(out);
        }
        if cursor.is_blank() {
            self.close_to(depth, out);
            self.has_blank_line = true;
            return;
        }
        let depth = self.open_containers(&mut cursor, depth, out);
        if !cursor.is_blank() && !self.open_block(&mut cursor, depth, out) {
            self.put_text(&cursor, depth, out);
        }
    }

    /// Adds a line to the open code block. Returns `false` if the line does not belong to it.
    fn put_code(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> bool {
        let Leaf::Code(code) = &mut self.leaf else { return false };
        match code.push_line(cursor) {
            CodeLine::Content(lines) => self.put_code_lines(lines, out),
            CodeLine::End => self.close_leaf(out),
            CodeLine::NotCode => return false,
        }
        true
    }

    /// Opens the quotes and list items that start on a line and returns the number of containers the line is
    /// in. If none starts, containers that the line does not continue stay open, because it may still
    /// continue their paragraph.
    fn open_containers(&mut self, cursor: &mut Cursor<'_>, mut depth: usize, out: &mut String) -> usize {
        while cursor.indent() < CODE_INDENT && self.stack_has_room(depth) {
            if skip_quote_marker(cursor) {
                self.close_to(depth, out);
                self.stack.end_list();
                self.stack.push_quote();
            } else if !self.open_item(cursor, depth, out) {
                break;
            }
            depth = self.stack.len();
        }
        depth
    }

    /// Returns whether a container may start at this depth. Deeper open containers would be closed first.
    fn stack_has_room(&self, depth: usize) -> bool {
        depth < self.stack.len() || self.stack.has_room()
    }

    /// Returns whether a line at this depth continues or interrupts an open paragraph.
    fn in_text(&self, depth: usize) -> bool {
        depth == self.stack.len() && matches!(self.leaf, Leaf::Text(_))
    }

    /// Opens a list item if one starts on the line. Returns whether it does.
    fn open_item(&mut self, cursor: &mut Cursor<'_>, depth: usize, out: &mut String) -> bool {
        let text = cursor.trimmed();
        let Some(marker) =
            marker::list_item(text).filter(|marker| marker.can_interrupt_paragraph() || !self.in_text(depth))
        else {
            return false;
        };
        if marker::is_rule(text) || (self.in_text(depth) && marker::is_underline(text)) {
            return false;
        }
        self.close_to(depth, out);
        let outer_indent = cursor.indent();
        cursor.skip_indent(outer_indent);
        cursor.skip(marker.length);
        // With more indentation, the item starts with a code block.
        let is_text = !marker.is_empty_item && cursor.indent() <= CODE_INDENT;
        let inner_indent = if is_text { cursor.indent() } else { 1 };
        cursor.skip_indent(inner_indent);
        let task = marker::task(cursor.trimmed()).filter(|_| is_text);
        if task.is_some() {
            cursor.skip("[x] ".len());
        }
        self.stack.push_item(marker, outer_indent + marker.length + inner_indent, task, self.terminal);
        true
    }

    /// Opens a block other than a paragraph if one starts on the line, and closes it if it also ends there.
    /// Returns whether one starts.
    fn open_block(&mut self, cursor: &mut Cursor<'_>, depth: usize, out: &mut String) -> bool {
        let text = cursor.trimmed();
        if cursor.indent() >= CODE_INDENT {
            if matches!(self.leaf, Leaf::Text(_)) {
                return false;
            }
            self.begin_leaf(depth, out);
            self.leaf = Leaf::Code(Box::new(Code::indented()));
            return self.put_code(cursor, out);
        }
        if marker::is_heading(text) {
            self.begin_leaf(depth, out);
            self.show_source(text, out);
        } else if let Some((fence, info)) = Fence::open(text) {
            let indent = cursor.indent();
            self.begin_leaf(depth, out);
            let (code, line) = Code::fenced(fence, info, indent, self.terminal);
            self.leaf = Leaf::Code(Box::new(code));
            self.put_code_lines(line.into_iter().collect(), out);
        } else if self.in_text(depth) && marker::is_underline(text) {
            self.add_text(&cursor.text());
            self.close_leaf(out);
        } else if marker::is_rule(text) {
            self.begin_leaf(depth, out);
            self.show(ParsedBlock::Rule, out);
        } else {
            return false;
        }
        true
    }

    /// Adds a line to the open paragraph, even if the markers of its containers are missing, or starts a new paragraph.
    fn put_text(&mut self, cursor: &Cursor<'_>, depth: usize, out: &mut String) {
        let in_text = self.in_text(depth);
        match &self.leaf {
            // Each definition is shown on its own line.
            Leaf::Text(text) if in_text && text.is_definition && marker::is_definition(cursor.trimmed()) => {
                self.close_leaf(out);
                self.is_joined = true;
                self.leaf = Leaf::Text(Text::new(cursor.trimmed()));
            }
            Leaf::Text(_) if in_text => self.add_text(&cursor.text()),
            // The indentation keeps the line from being parsed as the start of another block.
            Leaf::Text(_) => self.add_text(&format!("    {}", cursor.trimmed())),
            Leaf::None | Leaf::Code(_) => {
                self.begin_leaf(depth, out);
                self.leaf = Leaf::Text(Text::new(cursor.trimmed()));
            }
        }
    }

    fn add_text(&mut self, line: &str) {
        if let Leaf::Text(text) = &mut self.leaf {
            text.source.push('\n');
            text.source.push_str(line);
        }
    }

    /// Closes everything deeper than `depth`, and an open list, before a block that is not a list item.
    fn begin_leaf(&mut self, depth: usize, out: &mut String) {
        self.close_to(depth, out);
        self.stack.end_list();
    }

    /// Closes the open block and all containers deeper than `depth`.
    fn close_to(&mut self, depth: usize, out: &mut String) {
        self.close_leaf(out);
        while self.stack.len() > depth {
            if self.stack.has_unwritten_item() {
                self.put_gap(out);
                self.put_line(StyledLine::new(), out);
            }
            self.stack.pop();
        }
    }

    fn close_leaf(&mut self, out: &mut String) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::None => {}
            Leaf::Text(text) => self.show_source(&text.source, out),
            Leaf::Code(code) => {
                self.has_blank_line |= code.has_trailing_blanks();
                if let Some(line) = code.closing_line(self.terminal) {
                    self.put_line(line, out);
                }
            }
        }
    }

    /// Parses a complete block and writes it.
    fn show_source(&mut self, source: &str, out: &mut String) {
        #[cfg(test)]
        {
            self.work += source.len();
        }
        if self.stack.has_room() {
            inline::parse(source, self.terminal).into_iter().for_each(|block| self.show(block, out));
        } else {
            self.show(inline::literal(source), out);
        }
    }

    fn show(&mut self, block: ParsedBlock, out: &mut String) {
        let room = self.stack.room(self.terminal);
        let lines = match block {
            ParsedBlock::Text(text) => wrap(&text, room),
            ParsedBlock::Table(table) => table.lines(self.terminal, room),
            ParsedBlock::Rule if self.terminal.color => {
                vec![vec![StyledSpan::new("─".repeat(room.min(MAX_RULE_WIDTH)), DIM)]]
            }
            ParsedBlock::Rule => vec![vec![StyledSpan::plain("---")]],
        };
        if !lines.is_empty() {
            self.put_gap(out);
        }
        lines.into_iter().for_each(|line| self.put_line(line, out));
    }

    fn put_code_lines(&mut self, lines: Vec<StyledLine>, out: &mut String) {
        let Leaf::Code(code) = &mut self.leaf else { return };
        if !lines.is_empty() && !std::mem::replace(&mut code.has_output, true) {
            self.put_gap(out);
        }
        lines.into_iter().for_each(|line| self.put_line(line, out));
    }

    /// Writes the blank line between two blocks. Within a list, it is written only if the source has one.
    fn put_gap(&mut self, out: &mut String) {
        let is_joined = self.is_joined || (self.stack.stays_in_list() && !self.has_blank_line);
        if self.has_output && !is_joined {
            let mut line = self.stack.gap_prefix(self.terminal);
            trim_end(&mut line);
            paint(&line, self.terminal, out);
        }
        self.has_output = true;
        self.has_blank_line = false;
        self.is_joined = false;
        self.stack.share_all();
    }

    fn put_line(&mut self, content: StyledLine, out: &mut String) {
        let mut line = self.stack.line_prefix(self.terminal);
        if content.is_empty() {
            trim_end(&mut line);
        }
        line.extend(content);
        paint(&line, self.terminal, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: TerminalStyle = TerminalStyle { width: 80, color: true, links: true };

    /// Returns the size of a text and the number of bytes scanned and parsed to render it.
    fn size_and_work(lines: impl Iterator<Item = String>) -> (usize, usize) {
        let mut blocks = Blocks::new(TERMINAL);
        let mut size = 0;
        for line in lines {
            size += line.len();
            blocks.push_line(&line, &mut String::new());
        }
        blocks.close_to(0, &mut String::new());
        (size, blocks.work)
    }

    #[test]
    fn every_line_is_scanned_once_and_parsed_once() {
        let start = |first: &str| std::iter::once(first.to_owned());
        let paragraph = (0..5_000).map(|number| format!("line {number} of *one* paragraph"));
        let code = start("```rust").chain((0..5_000).map(|number| format!("let x = {number};")));
        let list = (0..5_000).map(|number| format!("- item {number}"));
        let item = start("- item").chain((0..5_000).map(|number| format!("  line {number} of it")));
        let quote = (0..5_000).map(|number| format!("> line {number}"));
        let table =
            start("|a|b|").chain(start("|-|-|")).chain((0..5_000).map(|number| format!("|{number}|x|")));
        let definitions = (0..5_000).map(|number| format!("[{number}]: x"));
        for (size, work) in [
            size_and_work(paragraph),
            size_and_work(code),
            size_and_work(list),
            size_and_work(item),
            size_and_work(quote),
            size_and_work(table),
            size_and_work(definitions),
            size_and_work(start(&"word ".repeat(20_000))),
        ] {
            // Joining lines adds line breaks.
            assert!(work <= 2 * size + 10_000, "{work} of {size}");
        }
    }

    #[test]
    fn code_is_written_line_by_line() {
        let mut blocks = Blocks::new(TERMINAL);
        let mut out = String::new();
        for line in ["```", "a", "b"] {
            blocks.push_line(line, &mut out);
            assert!(!blocks.has_pending());
        }
        assert_eq!(out, "a\nb\n");
    }

    #[test]
    fn nesting_depth_is_limited() {
        let mut blocks = Blocks::new(TERMINAL);
        blocks.push_line(&"- ".repeat(10_000), &mut String::new());
        blocks.push_line(&"> ".repeat(10_000), &mut String::new());
        assert!(blocks.stack.len() <= 32);
    }
}
