//! Judges whether a value is a secret: not a placeholder, a name, a path, a type or a sentence.

use std::sync::LazyLock;

use regex::Regex;

/// How much a value looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// A placeholder, an expression, a path, a name or words.
    None,
    /// A single word, words with hyphens or a number, which are a secret only where nothing else can be.
    Weak,
    /// Words and digits, as people choose them.
    Fair,
    /// Characters in no natural order, or a mix that nobody writes by accident.
    Strong,
}

/// Values that stand for a secret.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        ^(?: change[_-]?(?:me|it|this)? | (?:your|my|some|the|a|an|new|old|test|dummy|fake|sample|insert)[_.-].* | your.*
           | .*example.* | .*placeholder.* | .*redacted.* | undefined | null | nil | none | true | false | string | text
           | (?:pass(?:word|wort|wd|phrase)?|secret|token|api[_-]?key|key|user(?:name)?|login|auth|bearer|basic)[_-]?\d{0,4}
           | required | optional | hidden | masked | unset | empty | todo | tbd | foo(?:bar)? | bar | baz | default
           | contrase.a | kennwort | passe | senha | wachtwoord | (?:mot-de-)?passe
           | environ.* | getenv.* | process\.env.* | env\..* | secrets?\..* | vault.* | var\..* | local\..* | data\..*
           | .*\.\.\..* | .*….* | x+ | \*+ | \.+ | -+ | _+ | \#+ | 0+ | 1234\d* | abc\d* | admin | letmein | 1password | lastpass | bitwarden | keepass\w*
           | .*[_-](?:here|password|passwd|secret|token|key|pass) | [a-z_]+=[a-z]+ | .*(?:replace|your)[_-]?(?:me|with|this|own|key|token|secret|password).* )$",
    )
    .ok()
});

/// Returns how much a value looks like a secret.
pub(crate) fn judge(value: &str) -> Strength {
    let count = value.chars().count();
    if count < 6
        || is_placeholder(value)
        || is_template(value)
        || is_path_or_address(value)
        || is_code(value)
        || is_date_or_wallet(value)
    {
        return Strength::None;
    }
    let classes = count_classes(value);
    if value.chars().all(|letter| letter.is_ascii_digit()) {
        return Strength::Weak;
    }
    if is_uuid(value) || is_hex(value) {
        return if count >= 24 { Strength::Strong } else { Strength::None };
    }
    let inner = count_inner_digits(value);
    let has_digit = value.chars().any(|letter| letter.is_ascii_digit());
    let words = Words::of(value);
    if count >= 16 && has_digit && classes >= 2 && !words.are_natural && is_varied(value) {
        return Strength::Strong;
    }
    if (classes >= 3 && has_digit && count >= 8 && !words.is_versioned)
        || (classes >= 3 && count >= 10 && !words.are_natural)
        || (inner >= 2 && count >= 8)
    {
        return Strength::Strong;
    }
    if words.count == 1 && !has_digit {
        return match (words.are_natural, classes) {
            (false, _) if count >= 10 => Strength::Fair,
            (_, 1) if count >= 8 => Strength::Weak,
            _ => Strength::None,
        };
    }
    if has_digit && !words.is_versioned {
        return Strength::Fair;
    }
    match words.count {
        // Two words with a hyphen are a password, more are one only in quotes, and a name has no hyphens.
        2 if value.contains('-') && count >= 10 => Strength::Fair,
        2.. if value.contains('-') => Strength::Weak,
        _ => Strength::None,
    }
}

/// Returns whether a value is long and in no natural order, so that it is a secret wherever it stands near a label.
pub(crate) fn is_random(value: &str) -> bool {
    let has = |accepts: fn(&char) -> bool| value.chars().any(|letter| accepts(&letter));
    value.len() >= 20
        && judge(value) == Strength::Strong
        && !is_hex(value)
        && !is_uuid(value)
        && has(char::is_ascii_digit)
        && has(char::is_ascii_uppercase)
        && has(char::is_ascii_lowercase)
}

/// Returns whether a value is a placeholder or a well-known default.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let is_one_letter_repeated = value.chars().all(|letter| value.starts_with(letter));
    is_one_letter_repeated || PLACEHOLDER.as_ref().is_some_and(|pattern| pattern.is_match(value))
}

/// Returns whether a value is filled in by a program.
pub(crate) fn is_template(value: &str) -> bool {
    ["${", "$(", "{{", "%(", "<%", "#{", "@{"].iter().any(|sign| value.contains(sign))
        || value.starts_with(['$', '<', '%', '&', '@', '!', '|', '`'])
            && value[1..].chars().all(|letter| letter.is_alphanumeric() || "_->.:%".contains(letter))
}

fn is_path_or_address(value: &str) -> bool {
    let is_drive = value.as_bytes().get(1) == Some(&b':') && value.as_bytes().get(2) == Some(&b'\\');
    let starts_path = ["/", "~/", "./", "../", "\\\\"].iter().any(|start| value.starts_with(start));
    let segments: Vec<&str> = value.split('/').collect();
    let are_names = segments.len() > 1
        && segments.iter().all(|segment| {
            Words::of(segment).are_natural
                && !segment.contains(['+', '='])
                && count_inner_digits(segment) == 0
        });
    let is_random_base64 =
        value.len() >= 24 && count_classes(value) >= 3 && !are_names && !value.contains('.');
    (starts_path || is_drive || are_names || value.contains("://")) && !is_random_base64
        || (value.contains('@')
            && value.rsplit('@').next().is_some_and(|host| host.contains('.'))
            && count_classes(value) < 4)
}

/// Returns whether a value is a date, or the public address of a wallet.
fn is_date_or_wallet(value: &str) -> bool {
    let starts_with_date = value.as_bytes().get(..10).is_some_and(|start| {
        start.iter().enumerate().all(|(index, byte)| match index {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    });
    let is_wallet = value.strip_prefix("0x").is_some_and(|number| number.len() == 40 && is_hex(number));
    starts_with_date || is_wallet
}

/// Returns whether a value is an expression, a call, a chain of names, or a type.
fn is_code(value: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || "_.:".contains(letter);
    let is_call = [('(', ""), ('[', "]"), ('{', "}"), ('<', ">")].iter().any(|(open, close)| {
        value
            .split_once(*open)
            .is_some_and(|(name, rest)| !name.is_empty() && name.chars().all(is_name) && rest.contains(close))
    });
    let is_setting = value.split_once('=').is_some_and(|(name, rest)| {
        name.len() > 2
            && !rest.trim_matches('=').is_empty()
            && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
    });
    let is_constant = value.contains('_')
        && value
            .chars()
            .all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
    let is_chain = value.contains(['.', ':'])
        && value.split(['.', ':']).filter(|part| !part.is_empty()).all(is_identifier);
    is_call
        || is_setting
        || value.contains("\\{")
        || is_constant
        || value.starts_with("$$")
        || value.contains("::")
        || value.contains("->")
        || value.contains("=>")
        || value.ends_with('(')
        || is_chain
        || (is_identifier(value) && Words::of(value).are_natural)
}

fn is_identifier(value: &str) -> bool {
    value.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && value.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && count_inner_digits(value) < 2
        && (value.contains('_')
            || value.chars().skip(1).any(char::is_uppercase)
            || value.starts_with(char::is_uppercase)
            || value.len() < 8)
}

pub(crate) fn is_hex(value: &str) -> bool {
    value.chars().all(|letter| letter.is_ascii_hexdigit())
        && value.chars().any(|letter| letter.is_ascii_digit())
}

pub(crate) fn is_uuid(value: &str) -> bool {
    let lengths: Vec<usize> = value.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && is_hex(&value.replace('-', ""))
}

/// Returns the number of kinds of characters: lowercase, uppercase, digits and signs. Hyphens and underscores join words
/// and do not count.
fn count_classes(value: &str) -> usize {
    let kinds: [fn(char) -> bool; 4] = [
        char::is_lowercase,
        char::is_uppercase,
        |letter| letter.is_ascii_digit(),
        |letter| !letter.is_alphanumeric() && !"-_ .".contains(letter),
    ];
    kinds.iter().filter(|is_kind| value.chars().any(is_kind)).count()
}

/// Returns the number of groups of digits between letters.
fn count_inner_digits(value: &str) -> usize {
    let letters: Vec<char> = value.chars().collect();
    let groups = letters.chunk_by(|first, second| first.is_ascii_digit() == second.is_ascii_digit());
    let groups: Vec<&[char]> = groups.collect();
    let touches = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_alphabetic());
    groups
        .windows(3)
        .filter(|three| three[1][0].is_ascii_digit() && touches(three[0].last()) && touches(three[2].first()))
        .count()
}

/// Returns whether many different characters occur.
fn is_varied(value: &str) -> bool {
    let mut letters: Vec<char> = value.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len() * 2 >= value.chars().count().min(24)
}

/// The words that a value consists of, split at signs and at capital letters.
struct Words {
    count: usize,
    /// Whether every word can be pronounced.
    are_natural: bool,
    /// Whether digits only follow a word, as in `sha256` or `v2`.
    is_versioned: bool,
}

impl Words {
    fn of(value: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut previous = ' ';
        for letter in value.chars() {
            let starts_word = previous.is_lowercase() && letter.is_uppercase();
            match words.last_mut() {
                Some(word) if letter.is_alphanumeric() && previous.is_alphanumeric() && !starts_word => {
                    word.push(letter);
                }
                _ if letter.is_alphanumeric() => words.push(letter.to_string()),
                _ => {}
            }
            previous = letter;
        }
        let letters_of = |word: &String| word.trim_end_matches(|last: char| last.is_ascii_digit()).to_owned();
        let are_natural = words.iter().all(|word| is_natural(&letters_of(word)));
        let digits = value.chars().filter(char::is_ascii_digit).count();
        Self {
            count: words.len(),
            are_natural,
            is_versioned: are_natural
                && digits <= 3
                && !value.contains(['!', '#', '%', '^', '*', '?', '$', '&', '~', '+']),
        }
    }
}

/// Returns whether letters form a word: vowels and consonants alternate often enough, in one case.
fn is_natural(word: &str) -> bool {
    if word.chars().any(|letter| letter.is_ascii_digit()) {
        return false;
    }
    if word.len() <= 2 || word.chars().all(char::is_uppercase) && word.len() <= 5 {
        return true;
    }
    let is_one_case = word.chars().skip(1).all(char::is_lowercase) || word.chars().all(char::is_uppercase);
    let is_vowel =
        |letter: char| "aeiouyäöüáéíóúàèâêîôûãõåø".contains(letter.to_lowercase().next().unwrap_or(letter));
    let mut run = 0;
    let mut longest = 0;
    let mut vowels = 0;
    for letter in word.chars() {
        if is_vowel(letter) {
            vowels += 1;
            run = 0;
        } else {
            run += 1;
            longest = longest.max(run);
        }
    }
    let count = word.chars().count();
    is_one_case && longest <= 5 && vowels * 6 >= count && vowels * 4 <= count * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_paths_types_and_sentences_are_no_secrets() {
        for value in [
            "CancellationToken",
            "/home/sam/projects",
            "hashlib.sha256",
            "changeme",
            "process.env.SECRET",
            "${DB_PASSWORD}",
            "your-token-here",
            "load_key(path)?",
            "self.token",
            "********",
            "tokenizer.next_token()",
            "req.body.password",
            "String",
            "UserTokenProvider2",
            "Option<String>",
            "https://example.org/login",
            "config/keys/server",
            "required",
        ] {
            assert_eq!(judge(value), Strength::None, "{value}");
        }
    }

    #[test]
    fn passwords_and_keys_are_secrets() {
        for value in [
            "Sommer2015#",
            "viol3t-$almon-lem0n-4692",
            "2SP9W-WmSR_GTuj-X-Gf",
            "Magn3tEmb3r8388",
            "dfea3f820324e5b6e9e28dc97b8046d0",
            "d4yihZBUm8cmx4XBX7i4ZoK6kXNUJBGx51nkCooX",
            "kT5+gp5tkjdl+xGrTdb46HN1nn7yKjena98Mcpr5jjk=",
            "466713b0-d182-45e0-b938-cb5978c83de4",
        ] {
            assert_eq!(judge(value), Strength::Strong, "{value}");
        }
        for value in ["hunter2hunter2", "correct-horse", "Comet-Jasper-6663"] {
            assert!(judge(value) >= Strength::Fair, "{value}");
        }
        for value in ["swordfish", "somewhere-in-the-drawer"] {
            assert_eq!(judge(value), Strength::Weak, "{value}");
        }
    }
}
