//! Pieces of text with a style, and how they are painted.

use std::{fmt::Write as _, sync::Arc};

use anstyle::{AnsiColor, Effects, Style};
use unicode_width::UnicodeWidthStr;

use crate::Look;

/// What is secondary.
pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);

/// A style with a colour of the terminal's own palette.
pub(crate) const fn colored(color: AnsiColor) -> Style {
    color.on_default()
}

/// A piece of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) style: Style,
    pub(crate) link: Option<Arc<str>>,
    /// Whether its white space stays as it is.
    pub(crate) verbatim: bool,
}

/// Pieces one after the other: a line, or the text of a block, in which `\n` is where a line must end.
pub(crate) type Line = Vec<Span>;

impl Span {
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
pub(crate) fn append(line: &mut Line, text: &str, like: &Span) {
    match line.last_mut().filter(|last| last.is_like(like)) {
        Some(last) => last.text.push_str(text),
        None => line.push(like.with(text)),
    }
}

/// How many columns a line takes.
pub(crate) fn width(line: &Line) -> usize {
    line.iter().map(|span| span.text.width()).sum()
}

/// Takes white space off the end.
pub(crate) fn trim_end(line: &mut Line) {
    while let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            return;
        }
        line.pop();
    }
}

/// Writes a line and its end.
pub(crate) fn paint(line: &Line, look: Look, out: &mut String) {
    for span in line.iter().filter(|span| !span.text.is_empty()) {
        if look.color { paint_span(span, look, out) } else { out.push_str(&span.text) }
    }
    out.push('\n');
}

fn paint_span(span: &Span, look: Look, out: &mut String) {
    let link = span.link.as_deref().filter(|_| look.links);
    // Writing to a string cannot fail.
    let _ = match link {
        Some(link) => write!(
            out,
            "\x1b]8;;{link}\x1b\\{}{}{}\x1b]8;;\x1b\\",
            span.style.render(),
            span.text,
            span.style.render_reset()
        ),
        None => write!(out, "{}{}{}", span.style.render(), span.text, span.style.render_reset()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look { width: 80, color: true, links: true };

    fn painted(line: &Line, look: Look) -> String {
        let mut out = String::new();
        paint(line, look, &mut out);
        out
    }

    #[test]
    fn styles_and_links_are_closed_again() {
        let link = Span { link: Some("https://a.example".into()), ..Span::new("a", DIM) };
        let line = vec![Span::plain("x "), link];
        assert_eq!(painted(&line, LOOK), "x \x1b]8;;https://a.example\x1b\\\x1b[2ma\x1b[0m\x1b]8;;\x1b\\\n");
        assert_eq!(painted(&line, Look { links: false, ..LOOK }), "x \x1b[2ma\x1b[0m\n");
        assert_eq!(painted(&line, Look { color: false, ..LOOK }), "x a\n");
    }

    #[test]
    fn white_space_at_the_end_goes() {
        let mut line = vec![Span::plain("x "), Span::new("  ", DIM)];
        trim_end(&mut line);
        assert_eq!(line, [Span::plain("x")]);
    }
}
