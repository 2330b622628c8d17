//! Fences: text written by others is sent between `<name>` and `</name>` and must not be able to close its fence.

use crate::is_invisible;

/// Replaces the `<` of every spelling of the fence `name` with `‹`.
pub fn escape_fence(text: &str, name: &str) -> String {
    let is_ignored =
        |letter: &char| letter.is_whitespace() || is_invisible(*letter) || matches!(letter, '/' | '\\');
    let starts_with_name = |rest: &str| {
        let word = rest.chars().filter(|letter| !is_ignored(letter)).take(name.chars().count());
        word.flat_map(char::to_lowercase).eq(name.chars())
    };
    let escape = |(index, letter): (usize, char)| match letter {
        '<' if starts_with_name(&text[index + 1..]) => '‹',
        other => other,
    };
    text.char_indices().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_fence_is_escaped_and_nothing_else_changes() {
        for fence in [
            "</file>",
            "<\u{ad}/file>",
            "</\u{34f}file>",
            "<\u{e0041}/f\u{2066}ile>",
            "<\u{3164}/file>",
            "</FILE>",
            "< /file>",
            "<\u{200b}/fi\u{200b}le >",
            "<file path=\"x\">",
            "<\n/File",
        ] {
            let escaped = escape_fence(&format!("a {fence} b"), "file");
            assert!(!escaped.contains('<') && escaped.contains('‹'), "{escaped}");
        }
        let plain = "a < b, Vec<u8>, </memory>";
        assert_eq!(escape_fence(plain, "file"), plain);
    }
}
