//! A block of code that is open. Its lines are shown one by one and as they are: not wrapped, with nothing before them, so
//! that they can be copied.

use crate::{
    TerminalStyle,
    cursor::Cursor,
    diff::Diff,
    highlight::Highlighter,
    marker::Fence,
    span::{DIM, StyledLine, StyledSpan},
};

/// Code without a fence is indented so far.
const INDENT: usize = 4;

/// A block of code.
pub(crate) struct Code {
    /// What it began with, and how far that was indented; code that is only indented has none.
    fence: Option<(Fence, usize)>,
    painter: Painter,
    /// Empty lines that are code if more of it follows.
    blanks: usize,
    /// Whether something of it was shown.
    pub(crate) is_begun: bool,
}

enum Painter {
    Plain,
    Diff(Diff),
    Language(Highlighter),
}

/// What a line is to a block of code.
pub(crate) enum Took {
    /// Code, and these lines are shown.
    Lines(Vec<StyledLine>),
    /// The end of it.
    End,
    /// No part of it.
    Nothing,
}

impl Code {
    /// Begins with a fence; gives the line above the code.
    pub(crate) fn fenced(
        fence: Fence,
        info: &str,
        indent: usize,
        terminal: TerminalStyle,
    ) -> (Self, Option<StyledLine>) {
        let painter = if terminal.color { Painter::new(language(info)) } else { Painter::Plain };
        let line = match (terminal.color, info.is_empty()) {
            (true, true) => None,
            (true, false) => Some(vec![StyledSpan::new(info, DIM)]),
            (false, _) => Some(vec![StyledSpan::plain(format!("{}{info}", fence.text()))]),
        };
        (Self { fence: Some((fence, indent)), painter, blanks: 0, is_begun: false }, line)
    }

    /// Begins with an indented line.
    pub(crate) fn indented() -> Self {
        Self { fence: None, painter: Painter::Plain, blanks: 0, is_begun: false }
    }

    /// Takes a line.
    pub(crate) fn take(&mut self, cursor: &mut Cursor<'_>) -> Took {
        match self.fence {
            Some((fence, indent)) => self.take_fenced(fence, indent, cursor),
            None => self.take_indented(cursor),
        }
    }

    fn take_fenced(&mut self, fence: Fence, indent: usize, cursor: &mut Cursor<'_>) -> Took {
        if cursor.indent() < INDENT && fence.is_closed_by(cursor.trimmed()) {
            return Took::End;
        }
        cursor.skip_indent(indent);
        Took::Lines(vec![self.painter.line(&cursor.text())])
    }

    fn take_indented(&mut self, cursor: &mut Cursor<'_>) -> Took {
        if cursor.is_blank() {
            self.blanks += 1;
            return Took::Lines(Vec::new());
        }
        if cursor.indent() < INDENT {
            return Took::Nothing;
        }
        let mut lines = vec![StyledLine::new(); std::mem::take(&mut self.blanks)];
        lines.push(vec![StyledSpan::plain(cursor.text())]);
        Took::Lines(lines)
    }

    /// Whether empty lines came after the code.
    pub(crate) fn has_blanks(&self) -> bool {
        self.blanks > 0
    }

    /// It ends; gives the line below the code.
    pub(crate) fn end(&self, terminal: TerminalStyle) -> Option<StyledLine> {
        let (fence, _) = self.fence.filter(|_| !terminal.color)?;
        Some(vec![StyledSpan::plain(fence.text())])
    }
}

impl Painter {
    fn new(language: &str) -> Self {
        match language {
            "diff" | "patch" | "udiff" => Self::Diff(Diff::default()),
            _ => Highlighter::new(language).map_or(Self::Plain, Self::Language),
        }
    }

    fn line(&mut self, text: &str) -> StyledLine {
        match self {
            _ if text.is_empty() => StyledLine::new(),
            Self::Plain => vec![StyledSpan::plain(text)],
            Self::Diff(diff) => diff.line(text),
            Self::Language(highlighter) => highlighter.line(text),
        }
    }
}

/// The language among all that may be said after a fence: `rust,ignore`, `{.python}`, `js title="x"`.
fn language(info: &str) -> &str {
    let info = info.trim_start_matches(['{', '.']);
    let end = info.find(|letter: char| letter.is_whitespace() || ",:{}".contains(letter));
    &info[..end.unwrap_or(info.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_found() {
        for info in ["rust", "rust,ignore", "{.rust}", "rust title=\"x\"", "rust:src/lib.rs"] {
            assert_eq!(language(info), "rust");
        }
        assert_eq!(language("c++"), "c++");
        assert_eq!(language(""), "");
    }
}
