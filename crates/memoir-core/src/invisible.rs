//! Characters that cannot be seen. They can hide text from a reader, reverse it, or control the terminal.

use std::borrow::Cow;

/// Returns whether a character has no visible form: control characters, line separators, and everything that Unicode
/// lets a program ignore, such as marks that change the direction of text.
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns whether a character must not reach a terminal. Line breaks and tabs may, and so may the characters that join
/// letters or choose the form of an emoji.
pub fn is_unprintable(character: char) -> bool {
    is_invisible(character)
        && !matches!(character, '\n' | '\t' | '\u{200c}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Returns the text without the characters that must not reach a terminal. A model may repeat text that it read, and an
/// escape sequence in it could clear the screen or write to the clipboard.
pub fn printable(text: &str) -> Cow<'_, str> {
    match text.contains(is_unprintable) {
        true => Cow::Owned(text.replace(is_unprintable, "")),
        false => Cow::Borrowed(text),
    }
}

/// Returns whether a character looks like a space, but is none.
fn is_blank(character: char) -> bool {
    character != ' ' && (character.is_whitespace() || character == '\u{2800}')
}

/// Returns the text with every invisible or blank character escaped, except spaces, line breaks and tabs. Use this
/// where the user must see exactly what a text consists of.
pub fn reveal(text: &str) -> Cow<'_, str> {
    escape(text, |character| {
        (is_invisible(character) || is_blank(character)) && !matches!(character, '\n' | '\t')
    })
}

/// Returns the text on one line, with every invisible or blank character escaped, except spaces.
pub fn reveal_on_one_line(text: &str) -> Cow<'_, str> {
    escape(text, |character| is_invisible(character) || is_blank(character))
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match is_escaped(character) {
            true => escaped.extend(character.escape_unicode()),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_get_nothing_invisible_but_joiners() {
        assert_eq!(printable("a\x1b[2Jb\x07\r\n\tc\u{9b}d"), "a[2Jb\n\tcd");
        assert_eq!(printable("a\u{202e}b\u{2066}c\u{200b}d\u{ad}e\u{e0041}f\u{2028}g"), "abcdefg");
        for text in ["grüße 🌍\n", "👩\u{200d}🚀 ❤\u{fe0f}", "e\u{301}", "می\u{200c}خواهم"] {
            assert_eq!(printable(text), text);
        }
    }

    #[test]
    fn invisible_characters_are_revealed() {
        assert_eq!(reveal("rm\u{200b} x\n\ty\u{1b}[8m\r"), "rm\\u{200b} x\n\ty\\u{1b}[8m\\u{d}");
        assert_eq!(reveal_on_one_line("a\nb"), "a\\u{a}b");
        assert_eq!(reveal("a\u{a0}b\u{3000}c\u{2800}d"), "a\\u{a0}b\\u{3000}c\\u{2800}d");
        assert!(matches!(reveal_on_one_line("plain text, grüße"), Cow::Borrowed(_)));
    }
}
