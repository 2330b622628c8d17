//! Formats text and numbers for display.

use std::borrow::Cow;

/// Returns `text` without control characters other than line breaks and tabs. A model may repeat text that it read, and an
/// escape sequence in it could clear the screen or write to the clipboard.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_unsafe = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if text.contains(is_unsafe) {
        Cow::Owned(text.chars().filter(|character| !is_unsafe(*character)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns a number with a comma between groups of three digits.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(group_digits(999), "999");
        assert_eq!(group_digits(1_048_576), "1,048,576");
    }

    #[test]
    fn escape_sequences_are_disarmed() {
        assert_eq!(printable("a\x1b[2Jb\x07\r\n\tc\u{9b}d"), "a[2Jb\n\tcd");
        assert_eq!(printable("grüße 🌍\n"), "grüße 🌍\n");
    }
}
