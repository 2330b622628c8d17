//! Pieces of text with a style, and how they are painted.

use std::sync::Arc;

use anstyle::{AnsiColor, Effects, Style};
use unicode_width::UnicodeWidthStr;

use crate::TerminalStyle;

/// What is secondary.
pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);

/// A style with a colour of the terminal's own palette.
pub(crate) const fn colored(color: AnsiColor) -> Style {
    color.on_default()
}

/// A piece of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyledSpan {
    pub(crate) text: String,
    pub(crate) style: Style,
    pub(crate) link: Option<Arc<str>>,
    /// Whether its white space stays as it is.
    pub(crate) verbatim: bool,
}

/// Pieces one after the other: a line, or the text of a block, in which `\n` is where a line must end.
pub(crate) type StyledLine = Vec<StyledSpan>;

impl StyledSpan {
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, ..Self::default() }
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Style::new())
    }

    /// Another text, otherwise the same.
    fn with(&self, text: &str) -> Self {
        Self { text: text.to_owned(), style: self.style, link: self.link.clone(), verbatim: self.verbatim }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.style == other.style && self.link == other.link && self.verbatim == other.verbatim
    }
}

/// Puts a part of a span at the end of a line.
pub(crate) fn append(line: &mut StyledLine, text: &str, like: &StyledSpan) {
    match line.last_mut().filter(|last| last.is_like(like)) {
        Some(last) => last.text.push_str(text),
        None => line.push(like.with(text)),
    }
}

/// How many columns a line takes.
pub(crate) fn width(line: &StyledLine) -> usize {
    line.iter().map(|span| span.text.width()).sum()
}

/// Takes white space off the end.
pub(crate) fn trim_end(line: &mut StyledLine) {
    while let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            return;
        }
        line.pop();
    }
}

/// Writes a line and its end.
pub(crate) fn paint(line: &StyledLine, terminal: TerminalStyle, out: &mut String) {
    for span in line.iter().filter(|span| !span.text.is_empty()) {
        if terminal.color { paint_span(span, terminal, out) } else { out.push_str(&span.text) }
    }
    out.push('\n');
}

fn paint_span(span: &StyledSpan, terminal: TerminalStyle, out: &mut String) {
    let text = format!("{}{}{}", span.style.render(), span.text, span.style.render_reset());
    match span.link.as_deref().filter(|_| terminal.links) {
        Some(link) => out.push_str(&format!("\x1b]8;;{link}\x1b\\{text}\x1b]8;;\x1b\\")),
        None => out.push_str(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: TerminalStyle = TerminalStyle { width: 80, color: true, links: true };

    fn painted(line: &StyledLine, terminal: TerminalStyle) -> String {
        let mut out = String::new();
        paint(line, terminal, &mut out);
        out
    }

    #[test]
    fn styles_and_links_are_closed_again() {
        let link = StyledSpan { link: Some("https://a.example".into()), ..StyledSpan::new("a", DIM) };
        let line = vec![StyledSpan::plain("x "), link];
        assert_eq!(
            painted(&line, TERMINAL),
            "x \x1b]8;;https://a.example\x1b\\\x1b[2ma\x1b[0m\x1b]8;;\x1b\\\n"
        );
        assert_eq!(painted(&line, TerminalStyle { links: false, ..TERMINAL }), "x \x1b[2ma\x1b[0m\n");
        assert_eq!(painted(&line, TerminalStyle { color: false, ..TERMINAL }), "x a\n");
    }

    #[test]
    fn white_space_at_the_end_goes() {
        let mut line = vec![StyledSpan::plain("x "), StyledSpan::new("  ", DIM)];
        trim_end(&mut line);
        assert_eq!(line, [StyledSpan::plain("x")]);
    }
}
