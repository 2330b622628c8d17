//! Cutting texts to a number of tokens.

use memoir_core::count_tokens;

/// Bytes that are looked at for every token that is wanted: more would be counted for nothing.
const BYTES_PER_TOKEN: usize = 8;

/// The beginning of a text, of at most so many tokens.
pub(crate) fn beginning(text: &str, most: u64) -> &str {
    part(text, most, |text, length| &text[..text.floor_char_boundary(length)])
}

/// Its end.
fn end(text: &str, most: u64) -> &str {
    part(text, most, |text, length| &text[text.ceil_char_boundary(text.len().saturating_sub(length))..])
}

fn part<'a>(text: &'a str, most: u64, take: impl Fn(&'a str, usize) -> &'a str) -> &'a str {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    // A token is a byte at least.
    if text.len() <= most {
        return text;
    }
    let mut kept = take(text, most.saturating_mul(BYTES_PER_TOKEN).min(text.len()));
    loop {
        let counted = count_tokens(kept);
        if counted <= most {
            return kept;
        }
        // Where a text is uneven, the guess may be too large again; every round brings it down.
        let shorter = kept.len() * most / counted;
        kept = take(kept, shorter.min(kept.len() - 1));
    }
}

/// The text, or as much of its beginning as fits, with a word on what is missing.
pub(crate) fn from_start(text: &str, most: u64) -> String {
    let kept = beginning(text, most);
    if kept.len() == text.len() {
        return text.to_owned();
    }
    let kept = beginning(text, most.saturating_sub(NOTE));
    format!("{kept}\n[cut: {} of {} bytes shown]", kept.len(), text.len())
}

/// The text, or its beginning and its end with a word between them: a question may stand at either.
pub(crate) fn from_both_ends(text: &str, most: u64) -> String {
    if beginning(text, most).len() == text.len() {
        return text.to_owned();
    }
    let half = most.saturating_sub(NOTE) / 2;
    let (first, last) = (beginning(text, half), end(text, half));
    let left_out = text.len() - first.len() - last.len();
    format!("{first}\n[cut: {left_out} of {} bytes left out here]\n{last}", text.len())
}

/// What the word on a cut takes.
const NOTE: u64 = 24;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cut_text_fits_and_a_short_one_is_left_alone(text in ".{0,400}", most in 1_u64..60) {
            prop_assert!(count_tokens(beginning(&text, most)) as u64 <= most);
            prop_assert!(text.starts_with(beginning(&text, most)) && text.ends_with(end(&text, most)));
            if count_tokens(&text) as u64 <= most && text.len() as u64 <= most * 8 {
                prop_assert_eq!(from_both_ends(&text, most), text);
            }
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        let text = format!("first {} last", "word ".repeat(5000));
        let cut = from_both_ends(&text, 100);
        assert!(cut.starts_with("first word") && cut.ends_with("word  last"), "{cut}");
        assert!(cut.contains(" of 25011 bytes left out here]"), "{cut}");
        assert!(count_tokens(&cut) <= 100, "{}", count_tokens(&cut));
        let cut = from_start(&text, 100);
        assert!(cut.ends_with(" of 25011 bytes shown]") && count_tokens(&cut) <= 100, "{cut}");
        assert_eq!(from_start("short", 100), "short");
    }
}
