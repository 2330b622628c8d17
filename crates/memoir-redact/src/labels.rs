//! Finds secrets that follow a label, as in `api_key = "…"` or "the password is …".

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use crate::{
    is_in_marker,
    values::{Strength, is_hex, is_random, is_uuid, judge},
};

/// Maximum number of bytes between a label and a secret in running text.
const MAX_GAP: usize = 70;

/// Maximum number of bytes that are searched after a label.
const MAX_DISTANCE: usize = 600;

/// What a label announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelKind {
    /// A password, which people choose.
    Password,
    /// A key or token, which is random.
    Key,
    /// Something that is often not secret, such as a session or a signature.
    Ambiguous,
}

static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        (?<password> pass(?:word|wd|phrase|wort|code) | kennwort | contrase.a | mot\s+de\s+passe | wachtwoord | palavra-passe
                   | bind_?pw | become_?pass | storepass | keypass | requirepass | psk )
      | (?<key> (?:api|access|secret|private|signing|encryption|master|account|storage|shared(?:[_\s-]?access)?|subscription
                   |validation|decryption|application|preshared|pre-shared|client|session|auth|deploy|license|service|app|webhook)
                   [_\s-]?(?:access[_\s-]?)?(?:key|secret|token|tok|authtok)
              | secret[_-]?key[_-]?base | cl.\s+secr.te | clave\s+(?:secreta|api) | authtok(?:en)?
              | client[_-]key[_-]data | secret | token | credential | apikey )
      | (?<ambiguous> pwd | pass | pw | sig | session(?:[_-]?id)? | \b_auth\b | jwt | otp | seed )",
    )
    .ok()
});

/// Words after a label that make it the name of something else, as in `password_file`.
const OTHER_NAMES: &[&str] = &[
    "file",
    "path",
    "url",
    "uri",
    "type",
    "expir",
    "ttl",
    "count",
    "limit",
    "length",
    "len",
    "field",
    "name",
    "id",
    "policy",
    "hash",
    "reset",
    "min",
    "max",
    "size",
    "manager",
    "provider",
    "service",
    "ref",
    "env",
    "var",
    "valid",
    "store",
    "arn",
    "endpoint",
    "version",
    "budget",
    "kind",
    "algorithm",
    "accessor",
    "s_",
    "directory",
];

/// A secret and where it is.
pub(crate) struct Labeled {
    pub(crate) kind: LabelKind,
    pub(crate) range: Range<usize>,
}

/// Returns the secrets that follow labels.
pub(crate) fn find(text: &str) -> Vec<Labeled> {
    let Some(labels) = LABEL.as_ref() else { return Vec::new() };
    let mut found: Vec<Labeled> = Vec::new();
    for captures in labels.captures_iter(text) {
        let Some(label) = captures.get(0) else { continue };
        let kind = match (captures.name("password"), captures.name("key")) {
            (Some(_), _) => LabelKind::Password,
            (_, Some(_)) => LabelKind::Key,
            _ => LabelKind::Ambiguous,
        };
        if !is_in_marker(text, label.start())
            && let Some(end) = end_of_name(text, label.range(), kind)
        {
            for range in find_values(text, label.start(), end, kind) {
                if found.last().is_none_or(|last| last.range.end <= range.start) {
                    found.push(Labeled { kind, range });
                }
            }
        }
    }
    found
}

/// Returns the end of the name that contains a label, or `None` if it names something else.
fn end_of_name(text: &str, label: Range<usize>, kind: LabelKind) -> Option<usize> {
    let before = text[..label.start].chars().next_back();
    let first = text[label.start..].chars().next()?;
    let is_boundary = match before {
        None => true,
        Some(before) => {
            !before.is_alphanumeric()
                || (before.is_lowercase() && first.is_uppercase())
                || before.is_ascii_digit()
                || (kind == LabelKind::Password && label.len() >= 8)
                || text[label.clone()].contains(['_', '-'])
        }
    };
    if !is_boundary {
        return None;
    }
    let rest = &text[label.end..];
    // A longer name is not one.
    let rest = &rest[..rest.floor_char_boundary(64)];
    let is_end = |letter: char| !letter.is_alphanumeric() && !"_-.".contains(letter);
    let suffix_length = rest.find(is_end).unwrap_or(rest.len());
    let suffix = &rest[..suffix_length];
    if suffix.starts_with(|letter: char| letter.is_lowercase())
        || (kind == LabelKind::Ambiguous && !suffix.is_empty())
    {
        return None;
    }
    // A sentence may end with the label.
    let suffix = suffix.trim_end_matches(['.', '-']);
    let lower = suffix.trim_start_matches(['_', '-', '.']).to_lowercase();
    if OTHER_NAMES.iter().any(|name| lower.starts_with(name)) || suffix.len() > 24 {
        return None;
    }
    Some(label.end + suffix.len())
}

static ASSIGNMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        ^(?: (?:\\?["'`)\]*]){0,4} \s{0,8} (?:\[[^\]\n]{0,24}\]\s?)? (?: => | := | == | = | → | : (?:[\x20\t]*\n)? ) [\x20\t]{0,12}
           | \\?["'] \s* , \s*
           | \\?["'] \s+ value \s* = \s*
           | (?:["'][^<>\n]{0,120})? > \s{0,12}
           | \s{1,12} )
        (?<open> (?: [bruf]? \\?["'`] | <!\[CDATA\[ | \{ )? (?: NpmToken\. | Basic\s | Bearer\s )? )"#,
    )
    .ok()
});

/// Returns the secrets that follow a name.
fn find_values(text: &str, start: usize, end: usize, kind: LabelKind) -> Vec<Range<usize>> {
    // What follows within a few lines. A short text is also searched faster.
    let rest = &text[end..text.floor_char_boundary((end + MAX_DISTANCE).min(text.len()))];
    let captures = ASSIGNMENT.as_ref().and_then(|assignment| assignment.captures(rest));
    let parts = captures.as_ref().and_then(|captures| Some((captures.get(0)?, captures.name("open")?)));
    if let Some((whole, open)) = parts {
        let separator = whole.as_str()[..open.start()]
            .trim_matches(|letter: char| letter.is_whitespace() || "\"'`)]*\\".contains(letter));
        let value = take_value(&rest[whole.end()..], open.as_str());
        let is_option = text[..start].ends_with("--") || text[..start].ends_with(" -");
        let is_quoted = open.as_str().contains(['"', '\'', '`', '{', '[']);
        let needed = match (separator.is_empty(), kind) {
            (true, LabelKind::Ambiguous) => None,
            (true, _) if is_option => Some(Strength::Weak),
            (true, LabelKind::Password) => Some(Strength::Strong),
            (true, LabelKind::Key) => None,
            (false, LabelKind::Ambiguous) => Some(Strength::Strong),
            (false, LabelKind::Password) if is_quoted || is_shell_variable(text, start, end, separator) => {
                Some(Strength::Weak)
            }
            (false, LabelKind::Password) => Some(Strength::Fair),
            (false, LabelKind::Key) => Some(Strength::Strong),
        };
        let is_key_alone = kind == LabelKind::Key && separator.is_empty() && whole.as_str().contains('\n');
        let is_known = |value: &str| match needed {
            Some(needed) => judge(value) >= needed && (kind != LabelKind::Ambiguous || !is_uuid(value)),
            None => is_key_alone && value.len() >= 40 && is_random(value),
        };
        if let Some(value) = value.filter(|value| is_known(value)) {
            let start = end + whole.end();
            return std::iter::once(start..start + value.len()).collect();
        }
        if is_quoted && !separator.is_empty() {
            return Vec::new();
        }
    }
    if kind == LabelKind::Ambiguous {
        return Vec::new();
    }
    let is_private_key = text[start..end].to_lowercase().starts_with("private");
    let found = find_in_sentence(rest, kind, is_private_key);
    found.into_iter().map(|range| end + range.start..end + range.end).collect()
}

/// Returns whether a name is a shell variable that is assigned without spaces. Its value is a literal.
fn is_shell_variable(text: &str, start: usize, end: usize, separator: &str) -> bool {
    let name_start = text[..start]
        .rfind(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .map_or(0, |at| text.ceil_char_boundary(at + 1));
    separator == "="
        && text[end..].starts_with('=')
        && text[name_start..end].chars().all(|letter| !letter.is_lowercase())
}

/// Returns the value at the start of a text, up to the sign that closes what `open` opened.
fn take_value<'a>(text: &'a str, open: &str) -> Option<&'a str> {
    let line = text.split('\n').next().unwrap_or_default();
    let sign = open.trim_matches(|letter: char| letter.is_alphanumeric() || letter == '.' || letter == ' ');
    let length = match sign {
        "\\\"" => line.find("\\\""),
        "\\'" => line.find("\\'"),
        "<![CDATA[" => line.find("]]>"),
        "{" => line.find('}'),
        quote @ ("\"" | "'" | "`") => line.find(quote),
        _ => {
            let is_end = |letter: char| letter.is_whitespace() || "\"'`,;)]}<>|".contains(letter);
            let mut ends = line.char_indices().filter(|(at, letter)| match letter {
                '&' => ends_value(&line[at + 1..]),
                letter => is_end(*letter),
            });
            Some(ends.next().map_or(line.len(), |(at, _)| at))
        }
    };
    let value = &line[..length?];
    let value = match open {
        "" => value.trim_end_matches(['.', ':', '\\']),
        _ => value,
    };
    // A sentence is not a secret, even in quotes.
    (!value.is_empty() && !value.contains(char::is_whitespace)).then_some(value)
}

/// Returns whether an ampersand before `rest` separates a value from the next parameter or the next command. Otherwise it
/// is part of the value.
fn ends_value(rest: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || "_-.[]%".contains(letter);
    let after_name = rest.trim_start_matches(is_name);
    rest.is_empty()
        || rest.starts_with(|letter: char| letter.is_whitespace() || letter == '&')
        || (after_name.len() < rest.len() && after_name.starts_with('='))
}

/// Returns the values in the same sentence that are certainly secrets.
fn find_in_sentence(rest: &str, kind: LabelKind, is_private_key: bool) -> Vec<Range<usize>> {
    let is_end = |letter: char| letter.is_whitespace() || "\"'`()<>|&,;".contains(letter);
    let mut found = Vec::new();
    let (mut offset, mut gap) = (0, 0);
    for word in rest.split_inclusive(is_end) {
        let value = word.trim_end_matches(|letter: char| is_end(letter) || ":.".contains(letter));
        let value = value.trim_start_matches(['→', '=', ':']);
        let start = offset + word.find(value).unwrap_or(0);
        // An assignment has its own label.
        let is_assignment = value.trim_end_matches('=').contains('=');
        let is_secret = match kind {
            LabelKind::Password => judge(value) == Strength::Strong && looks_chosen(value),
            _ => is_random(value) || (is_private_key && value.len() == 64 && is_hex(value)),
        };
        if is_secret && !is_assignment {
            found.push(start..start + value.len());
            gap = 0;
        }
        offset += word.len();
        gap += word.len();
        let ends_sentence = word.trim_end().ends_with(['.', '!', '?', '{', '}']) && word.len() > 2;
        if gap > MAX_GAP || word.ends_with('\n') || (ends_sentence && !is_secret) {
            break;
        }
    }
    found
}

/// Returns whether a value in running text is a password: a mix of letters, digits and signs without the form of a
/// number, a version or an address.
fn looks_chosen(value: &str) -> bool {
    let has = |accepts: fn(char) -> bool| value.chars().any(accepts);
    let has_sign = value.chars().any(|letter| !letter.is_alphanumeric() && letter != '_');
    has(char::is_alphabetic)
        && has(|letter| letter.is_ascii_digit())
        && value.chars().count() >= 8
        && (has_sign || has(char::is_uppercase) && has(char::is_lowercase))
        && !value.starts_with(['#', '@', '/'])
}
