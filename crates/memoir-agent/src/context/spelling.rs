//! Spelling hints: words that the user probably mistyped. The prompt itself is never changed.

use std::{collections::HashSet, sync::OnceLock};

use memoir_store::{Memory, Result};
use spellbook::Dictionary;

const AFFIXES: &str = include_str!("../../assets/english.aff");
const WORDS: &str = include_str!("../../assets/english.dic");

const MAX_HINTS: usize = 5;

/// Minimum number of known words out of ten. Below this, assume the prompt is not in English.
const MIN_KNOWN_OF_TEN: usize = 6;

/// Maximum number of distinct words in a prompt. Longer prompts are probably pasted text and are not checked.
const MAX_WORDS: usize = 300;

/// Minimum length of a word that is checked. Shorter words have too many similar ones.
const MIN_WORD_LENGTH: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hint {
    word: String,
    suggestions: Vec<String>,
}

/// Returns the dictionary. The first call loads it, which is slow.
fn dictionary() -> Option<&'static Dictionary> {
    static DICTIONARY: OnceLock<Option<Dictionary>> = OnceLock::new();
    let load = || match Dictionary::new(AFFIXES, WORDS) {
        Ok(dictionary) => Some(dictionary),
        Err(error) => {
            tracing::warn!(%error, "could not load the built-in dictionary; there will be no spelling hints");
            None
        }
    };
    DICTIONARY.get_or_init(load).as_ref()
}

/// Finds words in `prompt` that are not in the dictionary and that the user has not used before.
pub(crate) async fn find_hints(prompt: &str, store: &dyn Memory) -> Result<Vec<Hint>> {
    let words = plain_words(prompt);
    let unknown_words = run_blocking(move || find_unknown_words(words)).await;
    if unknown_words.is_empty() {
        return Ok(Vec::new());
    }
    let familiarity = store.familiar_words(&unknown_words).await?;
    let new_words: Vec<String> = unknown_words
        .into_iter()
        .zip(familiarity)
        .filter(|(_, is_familiar)| !is_familiar)
        .map(|(word, _)| word)
        .collect();
    Ok(run_blocking(move || new_words.into_iter().take(MAX_HINTS).filter_map(suggest).collect()).await)
}

/// Runs slow work on a blocking thread. Returns the default value if it panics.
async fn run_blocking<T: Default + Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the spelling check panicked; there are no spelling hints");
        T::default()
    })
}

/// Returns the section of the request, which is empty if there are no hints.
pub(crate) fn section(hints: &[Hint]) -> String {
    if hints.is_empty() {
        return String::new();
    }
    let lines = hints.iter().map(|hint| format!("\n- \"{}\": {}", hint.word, hint.suggestions.join(" or ")));
    format!(
        "## Spelling\n\nThe user may have mistyped these words, and meant:\n{}",
        lines.collect::<String>()
    )
}

/// Returns the distinct lowercase words of a prompt, without names, identifiers, paths, numbers and code. Returns no
/// words if the prompt is probably pasted text.
fn plain_words(prompt: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut in_code = false;
    for line in prompt.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code || line.starts_with('>') || line.starts_with("    ") {
            continue;
        }
        // Text between backticks is code.
        for text in line.split('`').step_by(2) {
            for token in text.split_whitespace() {
                let word = token.trim_matches(|c: char| c.is_ascii_punctuation() && c != '@' && c != '#');
                let is_plain = word.len() > 1
                    && word.chars().all(|c| c.is_lowercase() || c == '\'' || c == '’')
                    && !token.starts_with(['/', '-', '@', '#', '$', '.', '~']);
                let word = word.replace('’', "'");
                if is_plain && seen.insert(word.clone()) {
                    words.push(word);
                    if words.len() > MAX_WORDS {
                        return Vec::new();
                    }
                }
            }
        }
    }
    words
}

/// Returns the words that are not in the dictionary. Returns none if too many are unknown, because the prompt is then
/// probably in another language.
fn find_unknown_words(words: Vec<String>) -> Vec<String> {
    let Some(dictionary) = dictionary().filter(|_| !words.is_empty()) else { return Vec::new() };
    let word_count = words.len();
    let mut unknown: Vec<String> = words.into_iter().filter(|word| !dictionary.check(word)).collect();
    if (word_count - unknown.len()) * 10 < word_count * MIN_KNOWN_OF_TEN {
        return Vec::new();
    }
    unknown.retain(|word| word.len() >= MIN_WORD_LENGTH);
    unknown
}

fn suggest(word: String) -> Option<Hint> {
    let mut suggestions = Vec::new();
    dictionary()?.suggest(&word, &mut suggestions);
    suggestions.retain(|other| !other.contains([' ', '-']) && is_typo(&word, other));
    suggestions.truncate(2);
    (!suggestions.is_empty()).then_some(Hint { word, suggestions })
}

/// Returns whether two words differ by a small edit distance, in which two swapped letters count as one edit.
fn is_typo(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.to_lowercase().chars().collect());
    let mut row_before_last: Vec<usize> = Vec::new();
    let mut last_row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substitution = last_row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut distance = substitution.min(last_row[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                distance = distance.min(row_before_last[j - 2] + 1);
            }
            row.push(distance);
        }
        row_before_last = std::mem::replace(&mut last_row, row);
    }
    last_row[b.len()] <= if a.len() < 6 { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(prompt: &str) -> Vec<(String, String)> {
        let hints = find_unknown_words(plain_words(prompt)).into_iter().filter_map(suggest);
        hints.map(|hint| (hint.word, hint.suggestions[0].clone())).collect()
    }

    #[test]
    fn typos_are_found_with_suggestions() {
        let hints = hints("When will I recieve the new accomodation near the resturant in the city?");
        let expected =
            [("recieve", "receive"), ("accomodation", "accommodation"), ("resturant", "restaurant")];
        assert_eq!(hints, expected.map(|(word, suggestion)| (word.to_owned(), suggestion.to_owned())));
    }

    #[test]
    fn names_identifiers_code_and_other_languages_get_no_hints() {
        for prompt in [
            "Ask Sönke and Wojciech about it, they know what it does",
            "rename get_usr to getUsr in src/mian.rs and run `carog tset` please",
            "the colour of the theatre is grey and I realise that I like the color",
            "Wann kommt der nächste Zug nach München an und wo steigen wir um?",
            "```\nrecieve adress\n```\nwhat does this code do when it is called?",
            "it doesn't work and I can’t tell why it won't start",
            "visit https://exmaple.com or /usr/lcoal with --verbsoe and the $PAHT",
        ] {
            assert_eq!(hints(prompt), [], "{prompt}");
        }
    }

    #[test]
    fn the_section_lists_suggestions() {
        let hint = Hint { word: "teh".into(), suggestions: vec!["the".into(), "tea".into()] };
        assert!(section(&[hint]).ends_with("\n- \"teh\": the or tea"));
        assert_eq!(section(&[]), "");
        assert!(is_typo("teh", "the") && !is_typo("this", "that"));
    }
}
