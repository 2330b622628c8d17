//! Splitting texts into the units that can answer a question: sentences, list items and table rows.

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
    let mut headings: Vec<(usize, String)> = Vec::new();
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
        let path = || headings.iter().map(|(_, heading)| heading.clone()).collect::<Vec<_>>();
        if !is_code && let Some((level, heading)) = parse_heading(line) {
            headings.retain(|(other, _)| *other < level);
            headings.push((level, heading));
        } else if !is_code && line.starts_with('|') {
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
            push(&mut units, &cells.join(" | "), meaning, path());
        } else if is_code {
            push(&mut units, line, line.to_owned(), path());
        } else {
            for sentence in sentences(strip_marker(line)) {
                push(&mut units, sentence, without_markup(sentence), path());
            }
        }
    }
    units
}

fn push(units: &mut Vec<Unit>, text: &str, meaning: String, headings: Vec<String>) {
    let text = text.trim();
    if text.chars().count() >= MIN_CHARS {
        units.push(Unit { text: without_markup(text), meaning, headings, is_question: text.ends_with('?') });
    }
}

fn parse_heading(line: &str) -> Option<(usize, String)> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let title = line[level..].trim();
    ((1..=6).contains(&level) && line[level..].starts_with(' ')).then(|| (level, title.to_owned()))
}

fn parse_row(line: &str) -> Vec<String> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// Removes the marker of a list item or a quotation.
fn strip_marker(line: &str) -> &str {
    let line = line.trim_start_matches("> ").trim();
    for marker in ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• "] {
        if let Some(item) = line.strip_prefix(marker) {
            return item;
        }
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    match line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") ")) {
        Some(item) if (1..=2).contains(&digits) => item,
        _ => line,
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
        assert_eq!(texts("Steps:\n1. Boil **water**\n- Add `salt`"), ["Steps:", "Boil water", "Add salt"]);
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
        assert_eq!(texts("Run this:\n```sh\ncargo test. now\n```"), ["Run this:", "cargo test. now"]);
    }
}
