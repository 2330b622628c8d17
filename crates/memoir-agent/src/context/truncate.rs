//! Truncates texts to a number of tokens.

use memoir_core::count_tokens;

/// First estimate of the bytes per token, so that the tokens of a much longer text need not be counted.
const BYTES_PER_TOKEN: usize = 8;

/// Returns the start of a text, of at most `limit` tokens.
pub(crate) fn prefix(text: &str, limit: u64) -> &str {
    shorten(text, limit, |text, length| &text[..text.floor_char_boundary(length)])
}

/// Returns the end of a text, of at most `limit` tokens.
fn suffix(text: &str, limit: u64) -> &str {
    shorten(text, limit, |text, length| &text[text.ceil_char_boundary(text.len().saturating_sub(length))..])
}

/// Shortens a text to at most `limit` tokens. `take` returns a given number of bytes of a text.
fn shorten<'a>(text: &'a str, limit: u64, take: impl Fn(&'a str, usize) -> &'a str) -> &'a str {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // A token is at least one byte.
    if text.len() <= limit {
        return text;
    }
    let mut part = take(text, limit.saturating_mul(BYTES_PER_TOKEN).min(text.len()));
    loop {
        let token_count = count_tokens(part);
        if token_count <= limit {
            return part;
        }
        // The estimate may be too large again if the bytes per token vary, but it shrinks in every round.
        let length = part.len() * limit / token_count;
        part = take(part, length.min(part.len() - 1));
    }
}

/// Returns the text, or as much of its start as fits, with a note on the omission.
pub(crate) fn keep_start(text: &str, limit: u64) -> String {
    if prefix(text, limit).len() == text.len() {
        return text.to_owned();
    }
    let start = prefix(text, limit.saturating_sub(NOTE_TOKENS));
    format!("{start}\n[cut: {} of {} bytes shown]", start.len(), text.len())
}

/// Returns the text, or its start and its end with a note on the omission between them. A question may be at either
/// end.
pub(crate) fn keep_both_ends(text: &str, limit: u64) -> String {
    if prefix(text, limit).len() == text.len() {
        return text.to_owned();
    }
    let half = limit.saturating_sub(NOTE_TOKENS) / 2;
    let (start, end) = (prefix(text, half), suffix(text, half));
    let omitted_bytes = text.len() - start.len() - end.len();
    format!("{start}\n[cut: {omitted_bytes} of {} bytes omitted here]\n{end}", text.len())
}

const NOTE_TOKENS: u64 = 24;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_truncated_text_fits_and_a_short_one_is_unchanged(text in ".{0,400}", limit in 1_u64..60) {
            prop_assert!(count_tokens(prefix(&text, limit)) as u64 <= limit);
            prop_assert!(text.starts_with(prefix(&text, limit)) && text.ends_with(suffix(&text, limit)));
            if count_tokens(&text) as u64 <= limit && text.len() as u64 <= limit * 8 {
                prop_assert_eq!(keep_both_ends(&text, limit), text);
            }
        }
    }

    #[test]
    fn an_omission_is_marked() {
        let text = format!("first {} last", "word ".repeat(5000));
        let short = keep_both_ends(&text, 100);
        assert!(short.starts_with("first word") && short.ends_with("word  last"), "{short}");
        assert!(short.contains(" of 25011 bytes omitted here]"), "{short}");
        assert!(count_tokens(&short) <= 100, "{}", count_tokens(&short));
        let short = keep_start(&text, 100);
        assert!(short.ends_with(" of 25011 bytes shown]") && count_tokens(&short) <= 100, "{short}");
        assert_eq!(keep_start("short", 100), "short");
    }
}
