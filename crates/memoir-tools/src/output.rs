//! Keeping output within what a model can use.

/// The most a tool gives back. A model that needs more can ask for the next part.
pub const LONGEST_OUTPUT: usize = 30_000;

/// Cuts `text` to `limit` bytes, between characters, and says what was cut.
pub fn cap(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(limit)];
    format!("{kept}\n[cut: {} of {} bytes shown]", kept.len(), text.len())
}

#[cfg(test)]
mod tests {
    use super::cap;

    #[test]
    fn cuts_between_characters_and_says_so() {
        assert_eq!(cap("short", 10), "short");
        assert_eq!(cap("ééé", 3), "é\n[cut: 2 of 6 bytes shown]");
    }
}
