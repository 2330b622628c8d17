//! Text from elsewhere, made safe for a terminal.

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

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn escape_sequences_lose_their_power() {
        assert_eq!(printable("a\x1b[2Jb\x07\r\n\tc\u{9b}d"), "a[2Jb\n\tcd");
        assert_eq!(printable("grüße 🌍\n"), "grüße 🌍\n");
    }
}
