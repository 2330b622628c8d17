//! Blocks, found line by line. Each line is looked at once and belongs to the containers that it continues; it may end
//! them, begin others, and is then a part of the block that is open in the innermost.
//!
//! The rules are those of CommonMark, with two exceptions. HTML begins no block here: its tags are shown as they stand, and
//! the Markdown between them is rendered. And whether items are apart is seen from each empty line between them, not from
//! the whole list, whose end is not known.

use crate::{
    TerminalStyle,
    code::{Code, Took},
    cursor::Cursor,
    inline::{self, ParsedBlock},
    marker::{self, Fence},
    span::{DIM, StyledLine, StyledSpan, paint, trim_end},
    stack::{Stack, take_quote},
    wrap::wrap,
};

/// Lines that are indented so far are code, or go on with a paragraph.
const CODE_INDENT: usize = 4;
/// Rules are drawn no longer than this.
const LONGEST_RULE: usize = 80;

/// The blocks of a text.
pub(crate) struct Blocks {
    terminal: TerminalStyle,
    stack: Stack,
    leaf: Leaf,
    /// Whether something was shown.
    is_begun: bool,
    /// Whether an empty line came since.
    is_apart: bool,
    /// Whether the next block follows the one before without an empty line.
    is_joined: bool,
    /// How many bytes were looked at, each time they were.
    #[cfg(test)]
    work: usize,
}

/// The block that is open.
enum Leaf {
    None,
    /// A paragraph, a heading or a table, of which only the end is known; parsed when it is complete.
    Text(Text),
    Code(Box<Code>),
}

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
            is_begun: false,
            is_apart: false,
            is_joined: false,
            #[cfg(test)]
            work: 0,
        }
    }

    pub(crate) fn set_width(&mut self, width: usize) {
        self.terminal.width = width;
    }

    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.leaf, Leaf::Text(_)) || self.stack.is_waiting()
    }

    /// Ends all that is open, and begins anew.
    pub(crate) fn finish(&mut self, out: &mut String) {
        self.close_to(0, out);
        *self = Self::new(self.terminal);
    }

    /// Takes a line, without its end.
    pub(crate) fn line(&mut self, text: &str, out: &mut String) {
        #[cfg(test)]
        {
            self.work += text.len();
        }
        let mut cursor = Cursor::new(text);
        let matched = self.stack.matching(&mut cursor);
        if matched == self.stack.len() && self.put_code(&mut cursor, out) {
            return;
        }
        if matches!(self.leaf, Leaf::Code(_)) {
            self.close_leaf(out);
        }
        if cursor.is_blank() {
            self.close_to(matched, out);
            self.is_apart = true;
            return;
        }
        let depth = self.open_containers(&mut cursor, matched, out);
        if !cursor.is_blank() && !self.open_block(&mut cursor, depth, out) {
            self.put_text(&cursor, depth, out);
        }
    }

    /// Gives a line to the code that is open. Whether it took it.
    fn put_code(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> bool {
        let Leaf::Code(code) = &mut self.leaf else { return false };
        match code.take(cursor) {
            Took::Lines(lines) => self.put_code_lines(lines, out),
            Took::End => self.close_leaf(out),
            Took::Nothing => return false,
        }
        true
    }

    /// Opens the quotes and items that begin with a line; gives how many containers it is in. While nothing begins, the
    /// containers that it does not continue stay open: it may be a paragraph's next line nevertheless.
    fn open_containers(&mut self, cursor: &mut Cursor<'_>, matched: usize, out: &mut String) -> usize {
        let mut depth = matched;
        while cursor.indent() < CODE_INDENT && self.stack_has_room(depth) {
            if take_quote(cursor) {
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

    /// Whether a container may begin within so many; what is open beyond them would end first.
    fn stack_has_room(&self, depth: usize) -> bool {
        depth < self.stack.len() || self.stack.has_room()
    }

    /// Whether a paragraph is open that a line in so many containers would go on with, or interrupt.
    fn in_text(&self, depth: usize) -> bool {
        depth == self.stack.len() && matches!(self.leaf, Leaf::Text(_))
    }

    /// Opens an item that begins with a line. Whether one did.
    fn open_item(&mut self, cursor: &mut Cursor<'_>, depth: usize, out: &mut String) -> bool {
        let text = cursor.trimmed();
        let Some(marker) = marker::list_item(text).filter(|marker| marker.is_sure() || !self.in_text(depth))
        else {
            return false;
        };
        if marker::is_rule(text) || (self.in_text(depth) && marker::is_underline(text)) {
            return false;
        }
        self.close_to(depth, out);
        let before = cursor.indent();
        cursor.skip_indent(before);
        cursor.skip(marker.length);
        // With more white space than this it is code that begins in the item.
        let is_text = !marker.is_bare && cursor.indent() <= CODE_INDENT;
        let after = if is_text { cursor.indent() } else { 1 };
        cursor.skip_indent(after);
        let task = marker::task(cursor.trimmed()).filter(|_| is_text);
        if task.is_some() {
            cursor.skip("[x] ".len());
        }
        self.stack.push_item(marker, before + marker.length + after, task, self.terminal);
        true
    }

    /// Opens a block that begins with a line; some end with it too. Whether one began.
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

    /// A line of a paragraph: the next of the one that is open, even without the marks of its containers, or a new one.
    fn put_text(&mut self, cursor: &Cursor<'_>, depth: usize, out: &mut String) {
        let in_text = self.in_text(depth);
        match &self.leaf {
            // Definitions stand one below the other.
            Leaf::Text(text) if in_text && text.is_definition && marker::is_definition(cursor.trimmed()) => {
                self.close_leaf(out);
                self.is_joined = true;
                self.leaf = Leaf::Text(Text::new(cursor.trimmed()));
            }
            Leaf::Text(_) if in_text => self.add_text(&cursor.text()),
            // So far indented it cannot be taken for anything else.
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

    /// Makes place for a block that is no item of the list that may be open.
    fn begin_leaf(&mut self, depth: usize, out: &mut String) {
        self.close_to(depth, out);
        self.stack.end_list();
    }

    /// Ends the block that is open and all containers but so many.
    fn close_to(&mut self, depth: usize, out: &mut String) {
        self.close_leaf(out);
        while self.stack.len() > depth {
            if self.stack.ends_unshown() {
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
                self.is_apart |= code.has_blanks();
                if let Some(line) = code.end(self.terminal) {
                    self.put_line(line, out);
                }
            }
        }
    }

    /// Parses a complete block and shows it.
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
                vec![vec![StyledSpan::new("─".repeat(room.min(LONGEST_RULE)), DIM)]]
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
        if !lines.is_empty() && !std::mem::replace(&mut code.is_begun, true) {
            self.put_gap(out);
        }
        lines.into_iter().for_each(|line| self.put_line(line, out));
    }

    /// Puts the empty line between two blocks, if there is to be one: always, but in a list only where it was written.
    fn put_gap(&mut self, out: &mut String) {
        let is_joined = self.is_joined || (self.stack.stays_in_list() && !self.is_apart);
        if self.is_begun && !is_joined {
            let mut line = self.stack.before_gap(self.terminal);
            trim_end(&mut line);
            paint(&line, self.terminal, out);
        }
        self.is_begun = true;
        self.is_apart = false;
        self.is_joined = false;
        self.stack.share_all();
    }

    fn put_line(&mut self, content: StyledLine, out: &mut String) {
        let mut line = self.stack.before_line(self.terminal);
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

    /// How much was looked at, of a text that comes in lines.
    fn work(lines: impl Iterator<Item = String>) -> (usize, usize) {
        let mut blocks = Blocks::new(TERMINAL);
        let mut size = 0;
        for line in lines {
            size += line.len();
            blocks.line(&line, &mut String::new());
        }
        blocks.close_to(0, &mut String::new());
        (size, blocks.work)
    }

    #[test]
    fn every_line_is_looked_at_once_and_parsed_once() {
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
            work(paragraph),
            work(code),
            work(list),
            work(item),
            work(quote),
            work(table),
            work(definitions),
            work(start(&"word ".repeat(20_000))),
        ] {
            // Line ends are added where lines are put together.
            assert!(work <= 2 * size + 10_000, "{work} of {size}");
        }
    }

    #[test]
    fn code_is_not_kept() {
        let mut blocks = Blocks::new(TERMINAL);
        let mut out = String::new();
        for line in ["```", "a", "b"] {
            blocks.line(line, &mut out);
            assert!(!blocks.is_waiting());
        }
        assert_eq!(out, "a\nb\n");
    }

    #[test]
    fn containers_are_counted() {
        let mut blocks = Blocks::new(TERMINAL);
        blocks.line(&"- ".repeat(10_000), &mut String::new());
        blocks.line(&"> ".repeat(10_000), &mut String::new());
        assert!(blocks.stack.len() <= 32);
    }
}
