//! Fences: text of others stands between `<name>` and `</name>`, and cannot end that by itself.

/// Text that neither opens nor closes the fence `name`, however that is spelled, and is otherwise as it was.
pub fn without_fence(text: &str, name: &str) -> String {
    let unseen = |letter: &char| {
        letter.is_whitespace()
            || matches!(letter, '/' | '\\' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    let fences = |rest: &str| {
        let word = rest.chars().filter(|letter| !unseen(letter)).take(name.chars().count());
        word.flat_map(char::to_lowercase).eq(name.chars())
    };
    let mark = |(at, letter): (usize, char)| match letter {
        '<' if fences(&text[at + 1..]) => '‹',
        other => other,
    };
    text.char_indices().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_of_a_fence_is_left_and_nothing_else_changes() {
        for fence in
            ["</file>", "</FILE>", "< /file>", "<\u{200b}/fi\u{200b}le >", "<file path=\"x\">", "<\n/File"]
        {
            let kept = without_fence(&format!("a {fence} b"), "file");
            assert!(!kept.contains('<') && kept.contains('‹'), "{kept}");
        }
        let plain = "a < b, Vec<u8>, </memory>";
        assert_eq!(without_fence(plain, "file"), plain);
    }
}
