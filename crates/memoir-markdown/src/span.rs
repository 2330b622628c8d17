//! Styled spans of text, and their output.

use std::sync::Arc;

use anstyle::{AnsiColor, Effects, Style};
use unicode_width::UnicodeWidthStr;

use crate::TerminalStyle;

pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);

/// Returns a style with a color of the terminal's palette.
pub(crate) const fn colored(color: AnsiColor) -> Style {
    color.on_default()
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyledSpan {
    pub(crate) text: String,
    pub(crate) style: Style,
    pub(crate) link: Option<Arc<str>>,
    /// Whether to preserve white space.
    pub(crate) verbatim: bool,
}

/// A line, or the text of a block, in which `\n` is a hard line break.
pub(crate) type StyledLine = Vec<StyledSpan>;

impl StyledSpan {
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, ..Self::default() }
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Style::new())
    }

    fn with_text(&self, text: &str) -> Self {
        Self { text: text.to_owned(), style: self.style, link: self.link.clone(), verbatim: self.verbatim }
    }

    fn has_same_style(&self, other: &Self) -> bool {
        self.style == other.style && self.link == other.link && self.verbatim == other.verbatim
    }
}

/// Appends text with the style of a span to a line, extending the last span if possible.
pub(crate) fn append(line: &mut StyledLine, text: &str, template: &StyledSpan) {
    match line.last_mut().filter(|last| last.has_same_style(template)) {
        Some(last) => last.text.push_str(text),
        None => line.push(template.with_text(text)),
    }
}

/// Returns the width of a line in columns.
pub(crate) fn width(line: &StyledLine) -> usize {
    line.iter().map(|span| span.text.width()).sum()
}

pub(crate) fn trim_end(line: &mut StyledLine) {
    while let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            return;
        }
        line.pop();
    }
}

/// Writes a line and its line break.
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

    fn paint_to_string(line: &StyledLine, terminal: TerminalStyle) -> String {
        let mut out = String::new();
        paint(line, terminal, &mut out);
        out
    }

    #[test]
    fn styles_and_links_are_closed() {
        let link = StyledSpan { link: Some("https://a.example".into()), ..StyledSpan::new("a", DIM) };
        let line = vec![StyledSpan::plain("x "), link];
        assert_eq!(
            paint_to_string(&line, TERMINAL),
            "x \x1b]8;;https://a.example\x1b\\\x1b[2ma\x1b[0m\x1b]8;;\x1b\\\n"
        );
        assert_eq!(paint_to_string(&line, TerminalStyle { links: false, ..TERMINAL }), "x \x1b[2ma\x1b[0m\n");
        assert_eq!(paint_to_string(&line, TerminalStyle { color: false, ..TERMINAL }), "x a\n");
    }

    #[test]
    fn trailing_white_space_is_removed() {
        let mut line = vec![StyledSpan::plain("x "), StyledSpan::new("  ", DIM)];
        trim_end(&mut line);
        assert_eq!(line, [StyledSpan::plain("x")]);
    }
}
