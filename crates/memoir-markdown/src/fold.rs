//! Wraps plain text to a width, with continuation lines aligned to the text of their line.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::{
    TerminalStyle, clean,
    span::{StyledLine, StyledSpan, paint},
    wrap::{TAB, measure, wrap},
};

/// Indentation of text below a first column that is too wide to be next to it.
const BELOW_INDENT: usize = 4;

/// Wraps each line of `text` to `width` columns, between words where possible.
///
/// Continuation lines are aligned with the text of their line: after its indentation, its list marker, or its last
/// column. Columns are separated by two or more spaces. If there is not enough room next to the first column, the text
/// starts below it.
pub fn wrap_text(text: &str, width: usize) -> String {
    fold_lines(text, width, find_text)
}

/// Wraps each line of `text` like [`wrap_text`], for text that has no columns.
pub fn wrap_prose(text: &str, width: usize) -> String {
    fold_lines(text, width, |line, _| find_indented(line))
}

/// Returns a line that fits into `width` columns. An ellipsis marks that it was truncated.
pub fn truncate_line(line: &str, width: usize) -> String {
    let line = clean::line(line).replace('\t', TAB);
    if line.width() <= width {
        return line;
    }
    let mut kept = String::new();
    let mut room = width.saturating_sub(1);
    for cluster in line.graphemes(true) {
        let Some(rest) = room.checked_sub(cluster.width()) else { break };
        room = rest;
        kept.push_str(cluster);
    }
    kept + if width > 0 { "…" } else { "" }
}

fn fold_lines(text: &str, width: usize, find_text: fn(&str, usize) -> usize) -> String {
    let width = width.max(1);
    let max_indent = width * 3 / 5;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = clean::line(line).replace('\t', TAB);
        if line.width() <= width {
            out.push_str(line.trim_end());
            out.push('\n');
        } else {
            let parts = line.split_at(find_text(&line, max_indent));
            fold_line(parts, width, max_indent, &mut out);
        }
    }
    out
}

fn fold_line((head, body): (&str, &str), width: usize, max_indent: usize, out: &mut String) {
    let body = vec![StyledSpan { verbatim: true, ..StyledSpan::plain(body) }];
    let has_room = head.width() <= max_indent && measure(&body).1 <= width - head.width();
    if has_room || !head.ends_with("  ") || head.trim().is_empty() {
        let indent = head.width().min(max_indent);
        let head = if head.trim().is_empty() { " ".repeat(indent) } else { head.to_owned() };
        put_lines(&body, &head, (indent, width), out);
    } else {
        let indent = (head.len() - head.trim_start().len() + BELOW_INDENT).min(max_indent);
        out.push_str(head.trim_end());
        out.push('\n');
        put_lines(&body, &" ".repeat(indent), (indent, width), out);
    }
}

/// Writes wrapped text. The first line starts with `head`, the others with spaces.
fn put_lines(body: &StyledLine, head: &str, (indent, width): (usize, usize), out: &mut String) {
    let plain = TerminalStyle { width, color: false, links: false };
    for (index, part) in wrap(body, width.saturating_sub(indent).max(1)).iter().enumerate() {
        out.push_str(&if index == 0 { head.to_owned() } else { " ".repeat(indent) });
        paint(part, plain, out);
    }
}

/// Returns the byte position of the text of a line: after the last column that ends by `max_indent`, or else after a
/// first column of one word, or else after its indentation and list marker.
fn find_text(line: &str, max_indent: usize) -> usize {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let body = &line[indent..];
    let starts = body.match_indices("  ").filter_map(|(gap, _)| {
        let text = body[gap..].trim_start_matches(' ');
        (!text.is_empty()).then_some(line.len() - text.len())
    });
    let is_column = |start: &usize| {
        let head = &line[..*start];
        head.width() <= max_indent || !head.trim().contains(' ')
    };
    let columns: Vec<usize> = starts.filter(is_column).collect();
    let fitting = columns.iter().rfind(|start| line[..**start].width() <= max_indent);
    fitting.or(columns.first()).copied().unwrap_or_else(|| find_indented(line))
}

/// Returns the byte position after the indentation and the list marker of a line.
fn find_indented(line: &str) -> usize {
    let body = line.trim_start_matches(' ');
    line.len() - body.len() + marker_length(body)
}

/// Returns the length of the list marker that `body` begins with, including its space.
fn marker_length(body: &str) -> usize {
    let marker = body.split(' ').next().unwrap_or_default();
    let is_number = marker.strip_suffix(['.', ')']).is_some_and(|number| number.parse::<u32>().is_ok());
    if is_number || matches!(marker, "-" | "*" | "•" | ">") { marker.len() + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::wrap_text;

    #[test]
    fn continuation_lines_keep_the_indentation() {
        assert_eq!(wrap_text("  one two three\n\nfour", 9), "  one two\n  three\n\nfour\n");
        assert_eq!(wrap_text("明天在教堂见面", 6), "明天在\n教堂见\n面\n");
        assert_eq!(wrap_text("\u{1b}[31mred", 80), "\u{fffd}[31mred\n");
        assert_eq!(wrap_text("", 10), "");
    }

    #[test]
    fn continuation_lines_are_aligned_with_the_last_column() {
        assert_eq!(
            wrap_text("ok  disk  much space is free", 20),
            "ok  disk  much space\n          is free\n"
        );
        assert_eq!(wrap_text("- one two three", 9), "- one two\n  three\n");
        assert_eq!(wrap_text("12. one two three", 11), "12. one two\n    three\n");
    }

    #[test]
    fn text_without_room_starts_below_the_first_column() {
        assert_eq!(wrap_text("a_long_name     and its text", 16), "a_long_name\n    and its text\n");
        assert_eq!(
            wrap_text("ok    log   /tmp/memoir.log (new)", 20),
            "ok    log\n    /tmp/memoir.log\n    (new)\n"
        );
    }

    #[test]
    fn double_spaces_within_a_sentence_are_not_columns() {
        assert_eq!(wrap_text("run the tests  -- all of them", 16), "run the tests\n-- all of them\n");
    }

    #[test]
    fn lines_that_fit_keep_their_spaces() {
        assert_eq!(wrap_text("a   b  c", 8), "a   b  c\n");
    }
}
