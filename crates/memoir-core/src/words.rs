//! The words of a text, as searching sees them.

use std::collections::HashSet;

/// Words that say nothing about a subject. They are left out unless there is nothing else.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "d", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i",
    "if", "in", "is", "it", "its", "ll", "m", "me", "my", "of", "on", "or", "our", "re", "s", "she",
    "should", "so", "t", "that", "the", "their", "them", "there", "they", "this", "to", "ve", "was", "we",
    "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with", "would", "you", "your",
];

/// Whether a word, in lower case, says nothing about a subject.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// The words of `text` in lower case, each once, without those that tell nothing; those too when there are no others.
pub fn telling_words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let words: Vec<String> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| seen.insert(word.clone()))
        .collect();
    let telling: Vec<String> = words.iter().filter(|word| !is_stop_word(word)).cloned().collect();
    if telling.is_empty() { words } else { telling }
}

#[cfg(test)]
mod tests {
    use super::telling_words;

    #[test]
    fn words_that_tell_nothing_are_left_out_unless_there_is_nothing_else() {
        assert_eq!(telling_words("What is the Tea, the tea?"), ["tea"]);
        assert_eq!(telling_words("Who am I?"), ["who", "am", "i"]);
        assert!(telling_words("?! 🦀").is_empty());
    }
}
