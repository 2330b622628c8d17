//! Text and numbers as people read them.

use std::borrow::Cow;

/// `text` without control characters but line ends and tabs. A model repeats what it read, and an escape
/// sequence in that could clear the screen or write to the clipboard.
pub fn printable(text: &str) -> Cow<'_, str> {
    let harmful = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if text.contains(harmful) {
        Cow::Owned(text.chars().filter(|character| !harmful(*character)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns a number with its digits in groups of three.
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
    fn escape_sequences_lose_their_power() {
        assert_eq!(printable("a\x1b[2Jb\x07\r\n\tc\u{9b}d"), "a[2Jb\n\tcd");
        assert_eq!(printable("grüße 🌍\n"), "grüße 🌍\n");
    }
}
