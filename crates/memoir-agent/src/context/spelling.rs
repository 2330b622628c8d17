//! Spelling hints: words that the user likely mistyped. The prompt itself is never touched.

use std::{collections::HashSet, sync::OnceLock};

use memoir_store::{Memory, Result};
use spellbook::Dictionary;

const AFFIXES: &str = include_str!("../../assets/english.aff");
const WORDS: &str = include_str!("../../assets/english.dic");

/// Hints are few, or the prompt is not in this language.
const MOST_HINTS: usize = 5;

/// Of so many words of ten at least, the dictionary knows, or the prompt is in another language.
const KNOWN_OF_TEN: usize = 6;

/// A text of more words is one that was pasted.
const MOST_WORDS: usize = 300;

/// Shorter words are too like each other.
const SHORTEST: usize = 4;

/// A word, and what may be meant by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hint {
    word: String,
    meant: Vec<String>,
}

/// Made at the first prompt: that takes a moment.
fn dictionary() -> Option<&'static Dictionary> {
    static DICTIONARY: OnceLock<Option<Dictionary>> = OnceLock::new();
    let load = || match Dictionary::new(AFFIXES, WORDS) {
        Ok(dictionary) => Some(dictionary),
        Err(error) => {
            tracing::warn!(%error, "the compiled-in dictionary is broken; there are no spelling hints");
            None
        }
    };
    DICTIONARY.get_or_init(load).as_ref()
}

/// What may be mistyped in `prompt`: words that are in no dictionary and that the user does not use otherwise.
pub(crate) async fn find_hints(prompt: &str, store: &dyn Memory) -> Result<Vec<Hint>> {
    let words = plain_words(prompt);
    let unknown = blocking(move || unknown_words(words)).await;
    if unknown.is_empty() {
        return Ok(Vec::new());
    }
    let familiar = store.familiar_words(&unknown).await?;
    let strange: Vec<String> =
        unknown.into_iter().zip(familiar).filter(|(_, familiar)| !familiar).map(|(word, _)| word).collect();
    Ok(blocking(move || strange.into_iter().take(MOST_HINTS).filter_map(hint).collect()).await)
}

/// Work that takes a moment, off the threads that wait.
async fn blocking<T: Default + Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "looking for mistyped words crashed; there are no spelling hints");
        T::default()
    })
}

/// The section of the document, if there are any.
pub(crate) fn section(hints: &[Hint]) -> String {
    if hints.is_empty() {
        return String::new();
    }
    let lines = hints.iter().map(|hint| format!("\n- \"{}\": {}", hint.word, hint.meant.join(" or ")));
    format!(
        "## Spelling\n\nThe user may have mistyped these words, and meant:\n{}",
        lines.collect::<String>()
    )
}

/// The words of a prompt in lower case, each once: no names, identifiers, paths, numbers or code. None of a text that was
/// pasted.
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
        // What stands between backticks is code.
        for text in line.split('`').step_by(2) {
            for token in text.split_whitespace() {
                let word = token.trim_matches(|c: char| c.is_ascii_punctuation() && c != '@' && c != '#');
                let is_plain = word.len() > 1
                    && word.chars().all(|c| c.is_lowercase() || c == '\'' || c == '’')
                    && !token.starts_with(['/', '-', '@', '#', '$', '.', '~']);
                let word = word.replace('’', "'");
                if is_plain && seen.insert(word.clone()) {
                    words.push(word);
                    if words.len() > MOST_WORDS {
                        return Vec::new();
                    }
                }
            }
        }
    }
    words
}

/// Those that are in no dictionary; none when most are in none, since the language is another then.
fn unknown_words(words: Vec<String>) -> Vec<String> {
    let Some(dictionary) = dictionary().filter(|_| !words.is_empty()) else { return Vec::new() };
    let all = words.len();
    let mut unknown: Vec<String> = words.into_iter().filter(|word| !dictionary.check(word)).collect();
    if (all - unknown.len()) * 10 < all * KNOWN_OF_TEN {
        return Vec::new();
    }
    unknown.retain(|word| word.len() >= SHORTEST);
    unknown
}

fn hint(word: String) -> Option<Hint> {
    let mut meant = Vec::new();
    dictionary()?.suggest(&word, &mut meant);
    meant.retain(|other| !other.contains([' ', '-']) && is_near(&word, other));
    meant.truncate(2);
    (!meant.is_empty()).then_some(Hint { word, meant })
}

/// Whether two words differ by a slip: a letter or two, or two that changed places.
fn is_near(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.to_lowercase().chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()] <= if a.len() < 6 { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hinted(prompt: &str) -> Vec<(String, String)> {
        let hints = unknown_words(plain_words(prompt)).into_iter().filter_map(hint);
        hints.map(|hint| (hint.word, hint.meant[0].clone())).collect()
    }

    #[test]
    fn slips_are_found_with_what_was_meant() {
        let found = hinted("When will I recieve the new accomodation near the resturant in the city?");
        let expected =
            [("recieve", "receive"), ("accomodation", "accommodation"), ("resturant", "restaurant")];
        assert_eq!(found, expected.map(|(word, meant)| (word.to_owned(), meant.to_owned())));
    }

    #[test]
    fn names_identifiers_code_and_other_languages_are_left_alone() {
        for prompt in [
            "Ask Sönke and Wojciech about it, they know what it does",
            "rename get_usr to getUsr in src/mian.rs and run `carog tset` please",
            "the colour of the theatre is grey and I realise that I like the color",
            "Wann kommt der nächste Zug nach München an und wo steigen wir um?",
            "```\nrecieve adress\n```\nwhat does this code do when it is called?",
            "it doesn't work and I can’t tell why it won't start",
            "visit https://exmaple.com or /usr/lcoal with --verbsoe and the $PAHT",
        ] {
            assert_eq!(hinted(prompt), [], "{prompt}");
        }
    }

    #[test]
    fn the_section_says_what_may_be_meant() {
        let hint = Hint { word: "teh".into(), meant: vec!["the".into(), "tea".into()] };
        assert!(section(&[hint]).ends_with("\n- \"teh\": the or tea"));
        assert_eq!(section(&[]), "");
        assert!(is_near("teh", "the") && !is_near("this", "that"));
    }
}
