//! Splitting texts into the units that can answer a question: sentences, list items and table rows.

use crate::markdown::{HeadingPath, is_row, parse_item, parse_row};

/// A unit of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The unit as it was written, on one line.
    pub(crate) text: String,
    /// The unit as it is compared with a question: a table row with the names of its columns.
    pub(crate) meaning: String,
    /// Headings above the unit, outermost first.
    pub(crate) headings: Vec<String>,
    /// Whether it asks something itself.
    pub(crate) is_question: bool,
}

/// Words with a period that do not end a sentence.
const ABBREVIATIONS: [&str; 15] =
    ["dr", "mr", "mrs", "ms", "st", "e.g", "i.e", "etc", "vs", "approx", "ca", "jr", "prof", "inc", "z.b"];

/// Minimum length of a unit in characters. Shorter ones say nothing.
const MIN_CHARS: usize = 3;

/// Splits a Markdown or plain text.
pub(crate) fn split(text: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut headings = HeadingPath::default();
    let mut columns: Vec<String> = Vec::new();
    let mut is_code = false;
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            push(&mut units, line.to_owned(), line.to_owned(), headings.titles());
        } else if line.is_empty() {
            columns.clear();
        } else if headings.add(line) || is_rule(line) {
            // Neither says anything by itself.
        } else if is_row(line) {
            let cells = parse_row(line);
            if lines.peek().is_some_and(|next| is_rule(next)) {
                columns = cells;
                continue;
            }
            let named = cells.iter().enumerate().map(|(index, cell)| match columns.get(index) {
                Some(column) if !column.is_empty() => format!("{column}: {cell}"),
                _ => cell.clone(),
            });
            let meaning = named.collect::<Vec<_>>().join(", ");
            push(&mut units, cells.join(" | "), meaning, headings.titles());
        } else {
            let line = line.trim_start_matches("> ").trim();
            for sentence in sentences(parse_item(line).unwrap_or(line)) {
                let sentence = without_markup(sentence);
                let introduces = sentence.ends_with(':') && lines.peek().is_some();
                if !introduces {
                    push(&mut units, sentence.clone(), sentence, headings.titles());
                }
            }
        }
    }
    units
}

/// Returns whether a line separates the names of a table's columns from its rows.
fn is_rule(line: &str) -> bool {
    is_row(line) && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn push(units: &mut Vec<Unit>, text: String, meaning: String, headings: Vec<String>) {
    if text.chars().count() >= MIN_CHARS {
        let is_question = text.ends_with('?');
        units.push(Unit { text, meaning, headings, is_question });
    }
}

/// Removes emphasis and code marks.
fn without_markup(text: &str) -> String {
    text.replace("**", "").replace('`', "")
}

/// Splits a line at the ends of sentences.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let bytes = line.as_bytes();
    for (index, character) in line.char_indices() {
        if !matches!(character, '.' | '!' | '?') || bytes.get(index + 1) != Some(&b' ') {
            continue;
        }
        let before = line[start..index].rsplit([' ', '(']).next().unwrap_or_default().to_lowercase();
        let is_initial = before.chars().count() == 1 && before.starts_with(char::is_alphabetic);
        let is_abbreviation = character == '.' && (ABBREVIATIONS.contains(&before.as_str()) || is_initial);
        let next = line[index + 1..].trim_start().chars().next();
        let goes_on = character == '.' && next.is_some_and(|next| next.is_lowercase() && before.len() <= 3);
        if !is_abbreviation && !goes_on {
            sentences.push(line[start..=index].trim());
            start = index + 1;
        }
    }
    sentences.push(line[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        split(text).into_iter().map(|unit| unit.text).collect()
    }

    #[test]
    fn sentences_lists_and_tables_are_split() {
        assert_eq!(
            texts("Dr. Roth called at 9.30 today. Is that ok? yes."),
            ["Dr. Roth called at 9.30 today.", "Is that ok?", "yes."]
        );
        assert_eq!(texts("Steps:\n1. Boil **water**\n- Add `salt`"), ["Boil water", "Add salt"]);
        let units = split(
            "# Manual\n\n## Checks\n\n| part | interval |\n| --- | --- |\n| door seals | every 3 months |",
        );
        assert_eq!(units.len(), 1);
        assert_eq!(units[0].text, "door seals | every 3 months");
        assert_eq!(units[0].meaning, "part: door seals, interval: every 3 months");
        assert_eq!(units[0].headings, ["Manual", "Checks"]);
        assert!(split("Really?")[0].is_question);
    }

    #[test]
    fn code_is_quoted_by_line() {
        let text = "Run this:\n```sh\ncargo test. now\nx = 2**8\n```";
        assert_eq!(texts(text), ["cargo test. now", "x = 2**8"]);
    }

    #[test]
    fn a_row_is_a_header_only_above_a_rule() {
        assert_eq!(
            texts("| burner | every year |\n| door | never |"),
            ["burner | every year", "door | never"]
        );
    }
}
