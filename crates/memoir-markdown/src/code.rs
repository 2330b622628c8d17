//! Open code blocks. Code is written line by line and verbatim: not wrapped and without a prefix, so that it
//! can be copied.

use crate::{
    TerminalStyle,
    cursor::Cursor,
    diff::Diff,
    highlight::Highlighter,
    marker::Fence,
    span::{DIM, StyledLine, StyledSpan},
};

/// Indentation of code without a fence, in columns.
const INDENT: usize = 4;

#[derive(Clone)]
pub(crate) struct Code {
    /// The opening fence and its indentation. `None` for indented code.
    fence: Option<(Fence, usize)>,
    painter: Painter,
    /// Number of blank lines that are code only if more code follows.
    blanks: usize,
    /// Whether part of the block has been written.
    pub(crate) has_output: bool,
}

#[derive(Clone)]
enum Painter {
    Plain,
    Diff(Diff),
    Language(Highlighter),
}

/// The result of adding a line to a code block.
pub(crate) enum CodeLine {
    /// The line is code, and these lines can be written.
    Content(Vec<StyledLine>),
    /// The line closes the block.
    End,
    /// The line does not belong to the block.
    NotCode,
}

impl Code {
    /// Starts a fenced block. Also returns the line to write above the code.
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
        (Self { fence: Some((fence, indent)), painter, blanks: 0, has_output: false }, line)
    }

    /// Starts an indented block.
    pub(crate) fn indented() -> Self {
        Self { fence: None, painter: Painter::Plain, blanks: 0, has_output: false }
    }

    pub(crate) fn push_line(&mut self, cursor: &mut Cursor<'_>) -> CodeLine {
        match self.fence {
            Some((fence, indent)) => self.push_fenced(fence, indent, cursor),
            None => self.push_indented(cursor),
        }
    }

    fn push_fenced(&mut self, fence: Fence, indent: usize, cursor: &mut Cursor<'_>) -> CodeLine {
        if cursor.indent() < INDENT && fence.is_closed_by(cursor.trimmed()) {
            return CodeLine::End;
        }
        cursor.skip_indent(indent);
        CodeLine::Content(vec![self.painter.line(&cursor.text())])
    }

    fn push_indented(&mut self, cursor: &mut Cursor<'_>) -> CodeLine {
        if cursor.is_blank() {
            self.blanks += 1;
            return CodeLine::Content(Vec::new());
        }
        if cursor.indent() < INDENT {
            return CodeLine::NotCode;
        }
        let mut lines = vec![StyledLine::new(); std::mem::take(&mut self.blanks)];
        lines.push(vec![StyledSpan::plain(cursor.text())]);
        CodeLine::Content(lines)
    }

    pub(crate) fn has_trailing_blanks(&self) -> bool {
        self.blanks > 0
    }

    /// Returns the line to write below the code.
    pub(crate) fn closing_line(&self, terminal: TerminalStyle) -> Option<StyledLine> {
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

/// Returns the language in the info string of a fence, such as `rust,ignore`, `{.python}` or `js title="x"`.
fn language(info: &str) -> &str {
    let info = info.trim_start_matches(['{', '.']);
    let end = info.find(|character: char| character.is_whitespace() || ",:{}".contains(character));
    &info[..end.unwrap_or(info.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_is_extracted_from_info_strings() {
        for info in ["rust", "rust,ignore", "{.rust}", "rust title=\"x\"", "rust:src/lib.rs"] {
            assert_eq!(language(info), "rust");
        }
        assert_eq!(language("c++"), "c++");
        assert_eq!(language(""), "");
    }
}
