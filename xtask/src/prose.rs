//! Finds calques: phrases that were carried over from another language, in documentation, comments and string literals.
//!
//! The list is short on purpose. Each phrase is wrong in every context, so that a finding is always worth fixing.

use std::path::Path;

use crate::{
    ChoreError, ChoreResult,
    files::{list_files, read},
    source::read_texts,
};

/// Phrases in lowercase, each with what to write instead.
const CALQUES: &[(&str, &str)] = &[
    ("anew", "again, from scratch, rebuild"),
    ("at its time", "on a schedule, when it is due"),
    ("at most so many", "at most N, maximum number of"),
    ("at their time", "on a schedule, when they are due"),
    ("bring in", "import, add"),
    ("brought in", "imported, added"),
    ("does not go along", "is not attached"),
    ("forgotten would be", "this will delete"),
    ("give back what", "return, release"),
    ("go on with", "resume, continue"),
    ("goes along", "is attached, is included"),
    ("goes on with", "resumes, continues"),
    ("going on with", "resuming, continuing"),
    ("have a task go on", "resume a task"),
    ("have a task wait", "pause a task"),
    ("is at something", "is processing, holds a lease"),
    ("is no directory", "is not a directory"),
    ("is no file", "is not a file"),
    ("is no folder", "is not a directory"),
    ("is no more", "no longer exists"),
    ("is no number", "is not a number"),
    ("lies there", "exists"),
    ("look whether", "check that"),
    ("mend the", "fix the, repair the"),
    ("says whether", "returns whether"),
    ("stand beside", "be next to"),
    ("stands beside", "is next to"),
    ("stands in the", "is in the"),
    ("tell of", "describe, report"),
    ("tells of", "describes, reports"),
    ("tells whether", "returns whether"),
    ("tells which", "returns which"),
    ("what is set", "the settings"),
    ("who answers", "the model"),
    ("who comes first", "name the component"),
    ("whosever", "whose, of any owner"),
];

/// Fails if a calque is in the Rust files or Markdown pages under `root`.
pub(crate) fn check(root: &Path) -> ChoreResult {
    let mut findings = Vec::new();
    for path in list_files(root, "md")? {
        let place = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        findings.extend(find_calques(&read(&path)?, 1).iter().map(|finding| finding.report(&place)));
    }
    // The list itself consists of calques, so skip this file.
    let own_file = root.join(file!());
    for path in list_files(root, "rs")?.iter().filter(|path| **path != own_file) {
        let place = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let source = read(path)?;
        let texts = read_texts(&source);
        let calques = texts.iter().flat_map(|text| find_calques(text.text, text.line));
        findings.extend(calques.map(|finding| finding.report(&place)));
    }
    if findings.is_empty() { Ok("No calques.".into()) } else { Err(ChoreError::Failed(findings.join("\n"))) }
}

#[derive(Debug, PartialEq, Eq)]
struct Finding {
    line: usize,
    phrase: &'static str,
    instead: &'static str,
}

impl Finding {
    fn report(&self, place: &str) -> String {
        format!("{place}:{}: \"{}\" is a calque; write: {}", self.line, self.phrase, self.instead)
    }
}

/// A word in lowercase with its line, or a mark that no phrase crosses.
enum Piece {
    Word { text: String, line: usize },
    Mark,
}

/// Returns the calques in `text`, which starts on `first_line`. A phrase may continue on the next line of a comment.
fn find_calques(text: &str, first_line: usize) -> Vec<Finding> {
    let pieces = split_words(text, first_line);
    let mut findings = Vec::new();
    for (phrase, instead) in CALQUES {
        let words: Vec<&str> = phrase.split(' ').collect();
        for window in pieces.windows(words.len()) {
            let matches = window.iter().zip(&words);
            let is_phrase = matches.into_iter().all(|(piece, word)| match piece {
                Piece::Word { text, .. } => text == word,
                Piece::Mark => false,
            });
            if let (true, Some(Piece::Word { line, .. })) = (is_phrase, window.first()) {
                findings.push(Finding { line: *line, phrase, instead });
            }
        }
    }
    findings.sort_by_key(|finding| finding.line);
    findings
}

fn split_words(text: &str, first_line: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut word = String::new();
    let mut line = first_line;
    for character in text.chars().chain(['\n']) {
        if character.is_alphanumeric() || matches!(character, '_' | '\'' | '-') {
            word.extend(character.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            pieces.push(Piece::Word { text: std::mem::take(&mut word), line });
        }
        // A comment's slashes and the backslash at the end of a string's line do not interrupt a phrase.
        if !character.is_whitespace() && !matches!(character, '/' | '!' | '\\') {
            pieces.push(Piece::Mark);
        }
        line += usize::from(character == '\n');
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<(usize, &str)> {
        find_calques(text, 1).into_iter().map(|finding| (finding.line, finding.phrase)).collect()
    }

    #[test]
    fn phrases_are_found_across_lines_and_in_any_case() {
        assert_eq!(phrases("/// Goes\n/// on with it. Read Anew."), [(1, "goes on with"), (2, "anew")]);
        assert_eq!(phrases("\"x is \\\n   no folder\""), [(1, "is no folder")]);
    }

    #[test]
    fn parts_of_words_and_phrases_across_marks_are_harmless() {
        assert_eq!(phrases("Amend the manewver; is it? No: more."), []);
        assert_eq!(phrases("There is no file-like thing. It says, whether or not."), []);
    }

    #[test]
    fn the_list_is_sorted_and_in_lowercase() {
        assert!(CALQUES.is_sorted());
        assert!(CALQUES.iter().all(|(phrase, _)| *phrase == phrase.to_lowercase()));
    }
}
