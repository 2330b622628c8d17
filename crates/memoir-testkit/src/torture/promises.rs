//! The program's promises: acknowledged exchanges are stored verbatim, and no trace of deleted exchanges remains.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::copies;
use crate::TestHome;

/// The texts of an exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PromptAndAnswer {
    /// The prompt, which contains the unique word of the exchange.
    pub prompt: String,
    /// The answer as the program printed or stored it.
    pub answer: String,
}

/// Texts of exchanges by id.
pub type PromptsAndAnswers = BTreeMap<i64, PromptAndAnswer>;

/// Prefix of the unique words in turns.
pub(super) const TURN_PREFIX: &str = "quux";
/// Prefix of the unique words in the imported history.
pub(super) const IMPORT_PREFIX: &str = "stock";

/// Returns a word that occurs in only one exchange. All words have the same length, so that none is a part of another.
pub(super) fn unique_word(prefix: &str, number: u64) -> String {
    format!("{prefix}{number:05}")
}

impl PromptAndAnswer {
    /// Returns the unique word of the exchange.
    pub(super) fn unique_word(&self) -> &str {
        let is_unique = |word: &&str| word.starts_with(TURN_PREFIX) || word.starts_with(IMPORT_PREFIX);
        self.prompt.split(' ').find(is_unique).unwrap_or_default()
    }
}

/// Returns the exchange that a turn acknowledged in the last line of its JSON output.
pub(super) fn acknowledged_exchange(stdout: &str, prompt: &str) -> Option<(i64, PromptAndAnswer)> {
    let result: Value = stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).next_back()?;
    let (id, answer) = (result["exchange_id"].as_i64()?, result["text"].as_str()?);
    Some((id, PromptAndAnswer { prompt: prompt.to_owned(), answer: answer.to_owned() }))
}

/// Returns the ids of expected exchanges that are missing or have other texts.
pub(super) fn find_lost(expected: &PromptsAndAnswers, stored: &PromptsAndAnswers) -> Vec<i64> {
    let mut lost = Vec::new();
    for (id, text) in expected {
        if stored.get(id) != Some(text) {
            lost.push(*id);
        }
    }
    lost
}

/// Returns the ids of expected exchanges that an export does not contain. Fails if a line of the export is
/// not valid JSON.
pub(super) fn find_unexported(expected: &PromptsAndAnswers, export: &str) -> Result<Vec<i64>, String> {
    let mut texts = HashSet::new();
    for line in export.lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        for message in line["messages"].as_array().into_iter().flatten() {
            texts.extend(message["text"].as_str().map(str::to_owned));
        }
    }
    let is_exported = |text: &PromptAndAnswer| texts.contains(&text.prompt) && texts.contains(&text.answer);
    Ok(expected.iter().filter(|(_, text)| !is_exported(text)).map(|(id, _)| *id).collect())
}

/// Searches the files of the memory and of its backups, including their logs, for words. Returns each match with the
/// path of its file.
pub(super) fn find_traces(home: &TestHome, words: &[String]) -> Vec<String> {
    let mut matches = Vec::new();
    if words.is_empty() {
        return matches;
    }
    let directories = copies::backups(home).chain([home.memoir_home()]);
    for directory in directories {
        for entry in std::fs::read_dir(directory).unwrap() {
            let file = entry.unwrap();
            if !file.file_name().to_string_lossy().starts_with(copies::DATABASE) {
                continue;
            }
            let bytes = std::fs::read(file.path()).unwrap();
            // Replacing invalid bytes leaves adjacent text intact.
            let text = String::from_utf8_lossy(&bytes);
            for word in words {
                if text.contains(word.as_str()) {
                    matches.push(format!("{word} in {}", file.path().display()));
                }
            }
        }
    }
    matches
}
