//! Word extraction for keyword search.

use std::collections::HashSet;

/// Common words that do not identify a topic.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "d", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i",
    "if", "in", "is", "it", "its", "ll", "m", "me", "my", "of", "on", "or", "our", "re", "s", "she",
    "should", "so", "t", "that", "the", "their", "them", "there", "they", "this", "to", "ve", "was", "we",
    "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with", "would", "you", "your",
];

/// Returns whether `word`, which must be in lower case, is too common to identify a topic.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Returns the distinct words of `text` in lower case. Stop words are omitted unless there are no other words.
pub fn content_words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let words: Vec<String> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| seen.insert(word.clone()))
        .collect();
    let content_words: Vec<String> = words.iter().filter(|word| !is_stop_word(word)).cloned().collect();
    if content_words.is_empty() { words } else { content_words }
}

#[cfg(test)]
mod tests {
    use super::content_words;

    #[test]
    fn stop_words_are_omitted_unless_there_are_no_other_words() {
        assert_eq!(content_words("What is the Tea, the tea?"), ["tea"]);
        assert_eq!(content_words("Who am I?"), ["who", "am", "i"]);
        assert!(content_words("?! 🦀").is_empty());
    }
}
