//! Formatting and size limits of tool output.

/// Maximum size of a tool's output in bytes.
pub const MAX_TOOL_OUTPUT_BYTES: usize = 30_000;

/// Truncates `text` to `limit` bytes at a character boundary and appends a note with the sizes.
pub fn truncate_output(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(limit)];
    format!("{head}\n[cut: {} of {} bytes shown]", head.len(), text.len())
}

/// Formats a number with a noun, which is pluralized by adding an `s`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_truncated_at_a_character_boundary() {
        assert_eq!(truncate_output("short", 10), "short");
        assert_eq!(truncate_output("ééé", 3), "é\n[cut: 2 of 6 bytes shown]");
    }

    #[test]
    fn nouns_agree_with_their_number() {
        assert_eq!([0, 1, 2].map(|number| count(number, "row")), ["0 rows", "1 row", "2 rows"]);
    }
}
