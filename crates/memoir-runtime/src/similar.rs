//! Finds the name that a user may have meant.

/// Minimum similarity of a word and the name that was meant.
const MIN_SIMILARITY: f64 = 0.88;

/// Returns the most similar of some names, if one is similar enough.
pub fn most_similar<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let similarities = names.map(|name| (strsim::jaro_winkler(name, word), name));
    let (similarity, name) = similarities.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (similarity >= MIN_SIMILARITY).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_names_are_found_and_other_words_are_not() {
        let find = |word| most_similar(word, ["doctor", "search", "models", "import"].into_iter());
        assert_eq!(find("docter"), Some("doctor"));
        assert_eq!(find("serch"), Some("search"));
        assert_eq!(find("what"), None);
        assert_eq!(find("hello"), None);
    }
}
