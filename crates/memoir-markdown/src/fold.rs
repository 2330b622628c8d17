//! Wraps plain text.

use crate::{
    TerminalStyle, clean,
    span::{StyledSpan, paint},
    wrap::wrap,
};

/// Wraps each line of `text` to `width` columns, between words where possible. Continuation lines keep the indentation
/// of their line.
pub fn fold(text: &str, width: usize) -> String {
    let plain = TerminalStyle { width, color: false, links: false };
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = clean::line(line);
        let body = line.trim_start_matches(' ');
        // In a narrow terminal, deep indentation would leave no room for the text.
        let indent = (line.len() - body.len()).min(width / 2);
        if body.is_empty() {
            out.push('\n');
        }
        for part in wrap(&vec![StyledSpan::plain(body)], width.saturating_sub(indent).max(1)) {
            out.push_str(&" ".repeat(indent));
            paint(&part, plain, &mut out);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn continuation_lines_keep_the_indentation() {
        assert_eq!(fold("  one two three\n\nfour", 9), "  one two\n  three\n\nfour\n");
        assert_eq!(fold("明天在教堂见面", 6), "明天在\n教堂见\n面\n");
        assert_eq!(fold("\u{1b}[31mred", 80), "\u{fffd}[31mred\n");
        assert_eq!(fold("", 10), "");
    }
}
