//! Marks at the beginning of a line that begin or end a block. Each looks at a line whose white space was taken off.

/// What holds the items of a list together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// `-`, `*` or `+`.
    Bullet(u8),
    /// `.` or `)` after a number.
    Number(u8),
}

/// The mark of a list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) kind: ListKind,
    pub(crate) number: u64,
    /// How many bytes it has.
    pub(crate) length: usize,
    /// Whether nothing follows it.
    pub(crate) is_bare: bool,
}

/// What opens a block of code, and closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    letter: u8,
    length: usize,
}

fn run(text: &str, letter: u8) -> usize {
    text.bytes().take_while(|byte| *byte == letter).count()
}

/// How many letters there are, if they are all this one.
fn only(mut bytes: impl Iterator<Item = u8>, letter: u8) -> usize {
    bytes.try_fold(0, |count, byte| (byte == letter).then_some(count + 1)).unwrap_or(0)
}

fn is_white(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

impl Fence {
    /// An opening fence and what is said after it.
    pub(crate) fn open(text: &str) -> Option<(Self, &str)> {
        let letter = *text.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = run(text, letter);
        let info = text[length..].trim();
        let inline_code = letter == b'`' && info.contains('`');
        (length >= 3 && !inline_code).then_some((Self { letter, length }, info))
    }

    /// Whether a line closes it.
    pub(crate) fn is_closed_by(&self, text: &str) -> bool {
        only(text.trim_end().bytes(), self.letter) >= self.length
    }

    /// As it was written.
    pub(crate) fn text(&self) -> String {
        char::from(self.letter).to_string().repeat(self.length)
    }
}

/// Whether a line is a heading with `#`.
pub(crate) fn is_heading(text: &str) -> bool {
    let level = run(text, b'#');
    (1..=6).contains(&level) && matches!(text.as_bytes().get(level), None | Some(b' ' | b'\t'))
}

/// Whether a line makes the paragraph above it a heading.
pub(crate) fn is_underline(text: &str) -> bool {
    let text = text.trim_end();
    only(text.bytes(), b'=') > 0 || only(text.bytes(), b'-') > 0
}

/// Whether a line is a rule from side to side.
pub(crate) fn is_rule(text: &str) -> bool {
    let letters = || text.bytes().filter(|byte| !is_white(*byte));
    [b'-', b'*', b'_'].into_iter().any(|letter| only(letters(), letter) >= 3)
}

/// Whether a line defines what a link or a footnote refers to: `[1]: https://…`.
pub(crate) fn is_definition(text: &str) -> bool {
    text.starts_with('[') && text.find(']').is_some_and(|end| end > 1 && text[end..].starts_with("]:"))
}

/// The mark of a list item.
pub(crate) fn list_item(text: &str) -> Option<Marker> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    let (kind, number, length) = if matches!(first, b'-' | b'*' | b'+') {
        (ListKind::Bullet(first), 0, 1)
    } else {
        // More digits than nine are no number.
        let digits = bytes.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let end = *bytes.get(digits).filter(|byte| matches!(byte, b'.' | b')'))?;
        let number = text[..digits].parse().ok().filter(|_| digits < 10)?;
        (ListKind::Number(end), number, digits + 1)
    };
    let apart = bytes.get(length).is_none_or(|byte| is_white(*byte));
    let is_bare = text[length..].bytes().all(is_white);
    apart.then_some(Marker { kind, number, length, is_bare })
}

impl Marker {
    /// Whether it is meant as one even within a paragraph.
    pub(crate) fn is_sure(&self) -> bool {
        !self.is_bare && self.number <= 1
    }
}

/// Whether an item is a task, and whether that is done: `[x] `.
pub(crate) fn task(text: &str) -> Option<bool> {
    let done = match text.get(..3)? {
        "[ ]" => false,
        "[x]" | "[X]" => true,
        _ => return None,
    };
    text[3..].starts_with([' ', '\t']).then_some(done)
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
    fn rules_headings_and_underlines() {
        assert!(is_rule("- - -") && is_rule("***") && is_rule("_ __  "));
        assert!(!is_rule("--") && !is_rule("-*-") && !is_rule("--a"));
        assert!(is_heading("# a") && is_heading("######") && !is_heading("#a") && !is_heading("####### a"));
        assert!(is_underline("=") && is_underline("---  ") && !is_underline("- -") && !is_underline(""));
        assert!(is_definition("[^1]: x") && !is_definition("[]: x") && !is_definition("[a] : x"));
    }

    #[test]
    fn marks_of_list_items() {
        let kind = |text| list_item(text).map(|marker| (marker.kind, marker.number, marker.is_sure()));
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
