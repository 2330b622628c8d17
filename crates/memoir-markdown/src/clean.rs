//! What could steer the terminal, taken out: control characters and those that turn the direction of writing.

use std::borrow::Cow;

/// What stands in the place of what was taken out.
const INSTEAD: char = char::REPLACEMENT_CHARACTER;

fn is_harmful(letter: char) -> bool {
    let turns = matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    turns || (letter.is_control() && letter != '\n' && letter != '\t')
}

/// A text that is safe to show.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains(is_harmful) {
        Cow::Owned(text.replace(is_harmful, INSTEAD.encode_utf8(&mut [0; 4])))
    } else {
        Cow::Borrowed(text)
    }
}

/// A line that is safe to show, without its end.
pub(crate) fn line(line: &str) -> Cow<'_, str> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    text(line.strip_suffix('\r').unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_is_left() {
        assert_eq!(text("a\u{1b}[31mb\u{9b}c\u{7f}\u{202e}d\u{2066}e\rf\0"), "a�[31mb�c��d�e�f�");
        assert_eq!(text("tab\tand\nline, e\u{301}, \u{200d}"), "tab\tand\nline, e\u{301}, \u{200d}");
    }

    #[test]
    fn a_line_loses_its_end_and_no_more() {
        assert_eq!(line("a \r\n"), "a ");
        assert_eq!(line("a\r\r\n"), "a�");
        assert_eq!(line(""), "");
    }
}
