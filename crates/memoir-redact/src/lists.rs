//! Finds secrets in lists and tables: recovery codes, and columns of passwords.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use crate::values::{Strength, judge};

/// Maximum number of bytes after a heading that can hold codes.
const MAX_BYTES: usize = 2000;

/// Maximum number of lines after a heading that can hold codes.
const MAX_LINES: usize = 16;

static HEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:backup|recovery|rescue|wiederherstellungs|sicherungs)[ -]?(?:codes?|keys?)\b|c.digos de recuperaci.n|codes? de (?:r.cup.ration|secours)",
    ).ok()
});

/// A code of two or more groups, or of many letters and digits.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:[0-9]{4} [0-9]{4}|[A-Za-z0-9]{4,6}(?:-[A-Za-z0-9]{4,6}){1,5}|[a-z0-9]{8,12}|[0-9]{8})\b",
    )
    .ok()
});

static PASSWORD_HEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^.{0,20}\b(?:password|passwort|kennwort|pw|contrase.a|mot de passe|passphrase|secret|token|api[ -]?key)\b.{0,12}$",
    )
    .ok()
});

/// Commands and manifests whose values are secrets in base64.
static MANIFEST: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bkubectl\b[^\n]*\bget secrets?\b|\bkind:\s*Secret\b").ok());

static ENCODED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^\s*"?[\w.-]+"?\s*:\s*"?(?<secret>[A-Za-z0-9+/]{16,}={0,2})"?,?\s*$"#).ok()
});

/// Returns the secrets in lists and tables.
pub(crate) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = find_codes(text).unwrap_or_default();
    found.extend(find_encoded(text).unwrap_or_default());
    found.extend(find_in_tables(text).unwrap_or_default());
    found
}

fn find_codes(text: &str) -> Option<Vec<Range<usize>>> {
    let (heading, code) = (HEADING.as_ref()?, CODE.as_ref()?);
    let mut found = Vec::new();
    let mut searched = 0;
    for title in heading.find_iter(text) {
        // A heading within the list of another one adds nothing.
        if title.end() < searched {
            continue;
        }
        let mut offset = title.end();
        let mut codes = Vec::new();
        searched = text.floor_char_boundary(offset + MAX_BYTES);
        for line in text[offset..searched].split_inclusive('\n').take(MAX_LINES) {
            let has_digit =
                |range: &Range<usize>| text[range.clone()].chars().any(|letter| letter.is_ascii_digit());
            codes.extend(
                code.find_iter(line).map(|code| offset + code.start()..offset + code.end()).filter(has_digit),
            );
            offset += line.len();
        }
        // One code may be a date or a number of something else.
        if codes.len() >= 3 {
            found.extend(codes);
        }
    }
    Some(found)
}

fn find_encoded(text: &str) -> Option<Vec<Range<usize>>> {
    let mut offset = MANIFEST.as_ref()?.find(text)?.end();
    let mut found = Vec::new();
    for line in text[offset..].split_inclusive('\n') {
        let value = ENCODED.as_ref()?.captures(line).and_then(|captures| captures.name("secret"));
        found.extend(value.map(|value| offset + value.start()..offset + value.end()));
        offset += line.len();
    }
    Some(found)
}

/// Returns the cells of Markdown tables in columns of passwords.
fn find_in_tables(text: &str) -> Option<Vec<Range<usize>>> {
    let heading = PASSWORD_HEADING.as_ref()?;
    let mut found = Vec::new();
    let mut columns: Vec<usize> = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if line.matches('|').count() < 2 {
            columns.clear();
        } else {
            let mut start = offset;
            for (index, cell) in line.split('|').enumerate() {
                let value = cell.trim_matches(|letter: char| letter.is_whitespace() || "`*".contains(letter));
                if heading.is_match(cell) && !cell.trim().is_empty() {
                    columns.push(index);
                } else if columns.contains(&index) && judge(value) >= Strength::Fair {
                    let value_start = start + cell.find(value).unwrap_or(0);
                    found.push(value_start..value_start + value.len());
                }
                start += cell.len() + 1;
            }
        }
        offset += line.len();
    }
    Some(found)
}
