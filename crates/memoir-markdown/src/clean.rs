//! Replaces characters that must not reach a terminal.

use std::borrow::Cow;

use memoir_core::is_unprintable;

/// Returns the text with these characters replaced.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains(is_unprintable) {
        Cow::Owned(text.replace(is_unprintable, char::REPLACEMENT_CHARACTER.encode_utf8(&mut [0; 4])))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the line without its line break and with these characters replaced.
pub(crate) fn line(line: &str) -> Cow<'_, str> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    text(line.strip_suffix('\r').unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprintable_characters_are_replaced() {
        assert_eq!(text("a\u{1b}[31mb\u{9b}c\u{7f}\u{202e}d\u{2066}e\rf\0"), "a�[31mb�c��d�e�f�");
        assert_eq!(text("tab\tand\nline, e\u{301}, \u{200d}"), "tab\tand\nline, e\u{301}, \u{200d}");
    }

    #[test]
    fn only_the_line_break_is_removed() {
        assert_eq!(line("a \r\n"), "a ");
        assert_eq!(line("a\r\r\n"), "a�");
        assert_eq!(line(""), "");
    }
}
