//! From what a person types to a full-text query that no input can break.

use memoir_core::telling_words;

/// The longest query that is asked: terms beyond this add time, not hits.
const MOST_TERMS: usize = 64;

/// An FTS5 query that matches any word of `text`, or nothing when there is no word in it.
///
/// Every word is quoted, so that operators, quotes and punctuation are words or nothing, never syntax.
pub(super) fn any_term_query(text: &str) -> Option<String> {
    let terms: Vec<String> =
        telling_words(text).into_iter().take(MOST_TERMS).map(|word| format!("\"{word}\"")).collect();
    (!terms.is_empty()).then(|| terms.join(" OR "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::any_term_query;

    #[test]
    fn operators_and_quotes_become_words() {
        assert_eq!(any_term_query("NOT \"a\" OR b*").as_deref(), Some(r#""not" OR "b""#));
    }

    #[test]
    fn punctuation_alone_asks_nothing() {
        assert_eq!(any_term_query(" \"*()?!- "), None);
        assert_eq!(any_term_query("🦀🦀"), None);
    }

    #[test]
    fn stop_words_count_only_when_alone() {
        assert_eq!(any_term_query("what is the tea").as_deref(), Some("\"tea\""));
        assert_eq!(any_term_query("Who am I?").as_deref(), Some(r#""who" OR "am" OR "i""#));
    }

    #[test]
    fn a_word_is_asked_once() {
        assert_eq!(any_term_query("Tea tea TEA").as_deref(), Some("\"tea\""));
    }

    proptest! {
        #[test]
        fn every_term_is_quoted(text in ".{0,200}") {
            if let Some(query) = any_term_query(&text) {
                for term in query.split(" OR ") {
                    prop_assert!(term.len() > 2 && term.starts_with('"') && term.ends_with('"'));
                    prop_assert!(!term[1..term.len() - 1].contains('"'));
                }
            }
        }
    }
}
