//! What the program promised: what it said it had kept is there, word by word, and what it said it had forgotten is
//! nowhere.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use serde_json::Value;

/// What was said in an exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Said {
    /// What was asked.
    pub asked: String,
    /// What was answered.
    pub answered: String,
}

/// SaidById by their ids.
pub type SaidById = BTreeMap<i64, Said>;

/// What the words begin with by which exchanges are known: those of turns, and those of a history that was brought in.
pub(super) const OWN: &str = "quux";
pub(super) const BROUGHT_IN: &str = "stock";

/// A word for one exchange alone. All are of one length, so that none is a part of another.
pub(super) fn word(beginning: &str, number: u64) -> String {
    format!("{beginning}{number:05}")
}

impl Said {
    /// The word that is said here and nowhere else.
    pub(super) fn word(&self) -> &str {
        let is_one = |word: &&str| word.starts_with(OWN) || word.starts_with(BROUGHT_IN);
        self.asked.split(' ').find(is_one).unwrap_or_default()
    }
}

/// The exchange that a turn said it had kept: the last line of JSON that it printed tells.
pub(super) fn kept_by(printed: &str, asked: &str) -> Option<(i64, Said)> {
    let result: Value = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).next_back()?;
    let (id, answered) = (result["exchange_id"].as_i64()?, result["text"].as_str()?);
    Some((id, Said { asked: asked.to_owned(), answered: answered.to_owned() }))
}

/// SaidById that are not there, or in which something else stands.
pub(super) fn lost(kept: &SaidById, there: &SaidById) -> Vec<i64> {
    let mut lost = Vec::new();
    for (id, said) in kept {
        if there.get(id) != Some(said) {
            lost.push(*id);
        }
    }
    lost
}

/// SaidById that an export does not tell of. Fails if a line of it is not whole.
pub(super) fn not_exported(kept: &SaidById, export: &str) -> Result<Vec<i64>, String> {
    let mut texts = HashSet::new();
    for line in export.lines() {
        let read: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        for message in read["messages"].as_array().into_iter().flatten() {
            texts.extend(message["text"].as_str().map(str::to_owned));
        }
    }
    let is_told = |said: &Said| texts.contains(&said.asked) && texts.contains(&said.answered);
    Ok(kept.iter().filter(|(_, said)| !is_told(said)).map(|(id, _)| *id).collect())
}

/// Which of some words stand where in the files of a database: in itself, its log, or a log that was put aside.
pub(super) fn files_with(database: &Path, words: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    if words.is_empty() {
        return found;
    }
    let name = database.file_name().unwrap().to_string_lossy();
    for entry in std::fs::read_dir(database.parent().unwrap()).unwrap() {
        let file = entry.unwrap();
        if !file.file_name().to_string_lossy().starts_with(&*name) {
            continue;
        }
        let bytes = std::fs::read(file.path()).unwrap();
        // What is no text does not swallow a letter beside it.
        let text = String::from_utf8_lossy(&bytes);
        for word in words {
            if text.contains(word.as_str()) {
                found.push(format!("{word} in {}", file.path().display()));
            }
        }
    }
    found
}
