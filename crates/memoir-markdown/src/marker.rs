//! Markers at the start of a line that open or close a block. All functions expect a line without its indentation.

/// The kind of a list. An item with another kind of marker starts a new list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// `-`, `*` or `+`.
    Bullet(u8),
    /// `.` or `)` after a number.
    Number(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) kind: ListKind,
    pub(crate) number: u64,
    /// Length in bytes.
    pub(crate) length: usize,
    /// Whether the line contains nothing else.
    pub(crate) is_empty_item: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    delimiter: u8,
    length: usize,
}

fn run_length(text: &str, expected: u8) -> usize {
    text.bytes().take_while(|byte| *byte == expected).count()
}

/// Returns the number of bytes if all are `expected`, and 0 otherwise.
fn count_if_all(mut bytes: impl Iterator<Item = u8>, expected: u8) -> usize {
    bytes.try_fold(0, |count, byte| (byte == expected).then_some(count + 1)).unwrap_or(0)
}

fn is_white_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

impl Fence {
    /// Parses an opening fence and its info string.
    pub(crate) fn open(text: &str) -> Option<(Self, &str)> {
        let delimiter = *text.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = run_length(text, delimiter);
        let info = text[length..].trim();
        let is_inline_code = delimiter == b'`' && info.contains('`');
        (length >= 3 && !is_inline_code).then_some((Self { delimiter, length }, info))
    }

    pub(crate) fn is_closed_by(&self, text: &str) -> bool {
        count_if_all(text.trim_end().bytes(), self.delimiter) >= self.length
    }

    pub(crate) fn text(&self) -> String {
        char::from(self.delimiter).to_string().repeat(self.length)
    }
}

/// Returns whether a line is a heading with `#`.
pub(crate) fn is_heading(text: &str) -> bool {
    let level = run_length(text, b'#');
    (1..=6).contains(&level) && matches!(text.as_bytes().get(level), None | Some(b' ' | b'\t'))
}

/// Returns whether a line would make the paragraph above it a heading.
pub(crate) fn is_underline(text: &str) -> bool {
    let text = text.trim_end();
    count_if_all(text.bytes(), b'=') > 0 || count_if_all(text.bytes(), b'-') > 0
}

/// Returns whether a line is a horizontal rule.
pub(crate) fn is_rule(text: &str) -> bool {
    let characters = || text.bytes().filter(|byte| !is_white_space(*byte));
    [b'-', b'*', b'_'].into_iter().any(|expected| count_if_all(characters(), expected) >= 3)
}

/// Returns whether a line defines the target of a link or a footnote: `[1]: https://…`.
pub(crate) fn is_definition(text: &str) -> bool {
    text.starts_with('[') && text.find(']').is_some_and(|end| end > 1 && text[end..].starts_with("]:"))
}

/// Parses the marker of a list item.
pub(crate) fn list_item(text: &str) -> Option<Marker> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    let (kind, number, length) = if matches!(first, b'-' | b'*' | b'+') {
        (ListKind::Bullet(first), 0, 1)
    } else {
        // CommonMark allows at most nine digits.
        let digits = bytes.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let end = *bytes.get(digits).filter(|byte| matches!(byte, b'.' | b')'))?;
        let number = text[..digits].parse().ok().filter(|_| digits < 10)?;
        (ListKind::Number(end), number, digits + 1)
    };
    let is_delimited = bytes.get(length).is_none_or(|byte| is_white_space(*byte));
    let is_empty_item = text[length..].bytes().all(is_white_space);
    is_delimited.then_some(Marker { kind, number, length, is_empty_item })
}

impl Marker {
    /// Returns whether the marker starts a list even directly after a line of a paragraph.
    pub(crate) fn can_interrupt_paragraph(&self) -> bool {
        !self.is_empty_item && self.number <= 1
    }
}

/// Returns whether a task is done, as in `[x] `, or `None` if the item is not a task.
pub(crate) fn task(text: &str) -> Option<bool> {
    let is_done = match text.get(..3)? {
        "[ ]" => false,
        "[x]" | "[X]" => true,
        _ => return None,
    };
    text[3..].starts_with([' ', '\t']).then_some(is_done)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn fences_open_and_close() {
        let (fence, info) = Fence::open("````rust ignore ").unwrap();
        assert_eq!(info, "rust ignore");
        assert!(!fence.is_closed_by("```"));
        assert!(fence.is_closed_by("`````  "));
        assert!(!fence.is_closed_by("````x"));
        assert_eq!(Fence::open("``` a`b"), None);
        assert_eq!(Fence::open("``"), None);
        assert!(Fence::open("~~~ a`b").is_some());
    }

    #[test]
    fn rules_headings_underlines_and_definitions() {
        assert!(is_rule("- - -") && is_rule("***") && is_rule("_ __  "));
        assert!(!is_rule("--") && !is_rule("-*-") && !is_rule("--a"));
        assert!(is_heading("# a") && is_heading("######") && !is_heading("#a") && !is_heading("####### a"));
        assert!(is_underline("=") && is_underline("---  ") && !is_underline("- -") && !is_underline(""));
        assert!(is_definition("[^1]: x") && !is_definition("[]: x") && !is_definition("[a] : x"));
    }

    #[test]
    fn list_item_markers() {
        let kind = |text| {
            list_item(text).map(|marker| (marker.kind, marker.number, marker.can_interrupt_paragraph()))
        };
        assert_eq!(kind("- a"), Some((ListKind::Bullet(b'-'), 0, true)));
        assert_eq!(kind("12) a"), Some((ListKind::Number(b')'), 12, false)));
        assert_eq!(kind("-"), Some((ListKind::Bullet(b'-'), 0, false)));
        assert_eq!(kind("-a"), None);
        assert_eq!(kind("1234567890. a"), None);
        assert_eq!(kind("2026 was"), None);
        assert_eq!(task("[x] a"), Some(true));
        assert_eq!(task("[ ]a"), None);
        assert_eq!(task("[é"), None);
    }
}
