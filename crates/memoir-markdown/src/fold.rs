//! Wraps plain text.

use unicode_width::UnicodeWidthStr as _;

use crate::{
    TerminalStyle, clean,
    span::{StyledSpan, paint},
    wrap::{TAB, wrap},
};

/// Additional indentation of continuation lines that cannot be aligned.
const HANGING_INDENT: usize = 2;

/// Wraps each line of `text` to `width` columns, between words where possible.
///
/// Continuation lines are aligned with the text of their line: after its indentation, its list marker, or its last
/// column. Columns are separated by two or more spaces.
pub fn fold(text: &str, width: usize) -> String {
    let width = width.max(1);
    let max_indent = width * 3 / 5;
    let plain = TerminalStyle { width, color: false, links: false };
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = clean::line(line).replace('\t', TAB);
        if line.width() <= width {
            out.push_str(line.trim_end());
            out.push('\n');
            continue;
        }
        let start = text_start(&line, max_indent);
        let (head, body) = line.split_at(start);
        // Deep indentation in a narrow terminal would leave no room for the text.
        let indent = head.width().min(max_indent);
        let head = if head.trim().is_empty() { " ".repeat(indent) } else { head.to_owned() };
        let hanging = if start == 0 && has_columns(body) { HANGING_INDENT.min(max_indent) } else { indent };
        let body = StyledSpan { verbatim: true, ..StyledSpan::plain(body) };
        for (index, part) in wrap(&vec![body], width.saturating_sub(hanging).max(1)).iter().enumerate() {
            out.push_str(&if index == 0 { head.clone() } else { " ".repeat(hanging) });
            paint(part, plain, &mut out);
        }
    }
    out
}

/// Returns the byte position where the text of a line begins: after its last column that ends by `limit`, or else after
/// its indentation and list marker.
fn text_start(line: &str, limit: usize) -> usize {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let body = &line[indent..];
    let mut start = indent + marker_length(body);
    for (gap, _) in body.match_indices("  ") {
        let spaces = body[gap..].len() - body[gap..].trim_start_matches(' ').len();
        let end = indent + gap + spaces;
        if line[..end].width() <= limit && end < line.len() {
            start = start.max(end);
        }
    }
    start
}

/// Returns the length of the list marker that `body` begins with, including its space.
fn marker_length(body: &str) -> usize {
    let marker = body.split(' ').next().unwrap_or_default();
    let is_number = marker.strip_suffix(['.', ')']).is_some_and(|number| number.parse::<u32>().is_ok());
    if is_number || matches!(marker, "-" | "*" | "•" | ">") { marker.len() + 1 } else { 0 }
}

fn has_columns(body: &str) -> bool {
    body.trim_end().contains("  ")
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

    #[test]
    fn continuation_lines_are_aligned_with_the_last_column() {
        assert_eq!(fold("ok  disk  much space is free", 20), "ok  disk  much space\n          is free\n");
        assert_eq!(fold("- one two three", 9), "- one two\n  three\n");
        assert_eq!(fold("12. one two three", 11), "12. one two\n    three\n");
        assert_eq!(
            fold("a long name of a thing  and its text", 16),
            "a long name of a\n  thing  and its\n  text\n"
        );
    }

    #[test]
    fn lines_that_fit_keep_their_spaces() {
        assert_eq!(fold("a   b  c", 8), "a   b  c\n");
    }
}
