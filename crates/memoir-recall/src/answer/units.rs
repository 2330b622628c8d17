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
const ABBREVIATIONS: [&str; 16] = [
    "dr", "mr", "mrs", "ms", "st", "e.g", "i.e", "etc", "vs", "no", "approx", "ca", "jr", "prof", "inc",
    "z.b",
];

/// Minimum length of a unit in characters. Shorter ones say nothing.
const MIN_CHARS: usize = 3;

/// Splits a Markdown or plain text.
pub(crate) fn split(text: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut headings = HeadingPath::default();
    let mut columns: Vec<String> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if line.is_empty() {
            columns.clear();
            continue;
        }
        if !is_code && headings.add(line) {
            continue;
        }
        let path = headings.titles();
        if !is_code && is_row(line) {
            let cells = parse_row(line);
            if cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' '))) {
                continue;
            }
            if columns.is_empty() {
                columns = cells;
                continue;
            }
            let named = cells.iter().enumerate().map(|(index, cell)| match columns.get(index) {
                Some(column) if !column.is_empty() => format!("{column}: {cell}"),
                _ => cell.clone(),
            });
            let meaning = named.collect::<Vec<_>>().join(", ");
            push(&mut units, &cells.join(" | "), meaning, path);
        } else if is_code {
            push(&mut units, line, line.to_owned(), path);
        } else {
            let line = line.trim_start_matches("> ").trim();
            for sentence in sentences(parse_item(line).unwrap_or(line)) {
                push(&mut units, sentence, without_markup(sentence), path.clone());
            }
        }
    }
    drop_introductions(units)
}

/// Removes units such as "Steps:", which say nothing without what follows them.
fn drop_introductions(mut units: Vec<Unit>) -> Vec<Unit> {
    let last = units.pop();
    units.retain(|unit| !unit.text.ends_with(':'));
    units.extend(last);
    units
}

fn push(units: &mut Vec<Unit>, text: &str, meaning: String, headings: Vec<String>) {
    let text = text.trim();
    if text.chars().count() >= MIN_CHARS {
        units.push(Unit { text: without_markup(text), meaning, headings, is_question: text.ends_with('?') });
    }
}

/// Removes emphasis and code marks.
fn without_markup(text: &str) -> String {
    text.replace("**", "").replace('`', "")
}

/// Splits a line at the ends of sentences.
fn sentences(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let bytes = line.as_bytes();
    for (index, character) in line.char_indices() {
        if !matches!(character, '.' | '!' | '?') || bytes.get(index + 1) != Some(&b' ') {
            continue;
        }
        let before = line[start..index].rsplit([' ', '(']).next().unwrap_or_default().to_lowercase();
        let is_abbreviation =
            character == '.' && (ABBREVIATIONS.contains(&before.as_str()) || before.chars().count() == 1);
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
        assert_eq!(texts("Run this:\n```sh\ncargo test. now\n```"), ["cargo test. now"]);
    }
}
