//! Finds secrets in text and redacts them.
//!
//! Keys and tokens are recognized by their format (`formats.rs`), passwords and other values by a label before them
//! (`labels.rs`), lists by a heading (`lists.rs`). A labeled value must look like a secret (`values.rs`): names, types,
//! paths and sentences are left alone. Each secret is replaced by a marker that names its kind; all other text is
//! unchanged. `cargo bench -p memoir-redact` prints precision and recall on the texts in `eval/`.

mod formats;
mod labels;
mod lists;
mod values;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::{LazyLock, OnceLock},
};

use aho_corasick::AhoCorasick;
use regex::{Regex, RegexSet};

use formats::RULES;
use labels::LabelKind;

/// A secret that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Kind of secret, as in "GitHub token".
    pub kind: &'static str,
    /// Why the text was considered a secret.
    pub reason: &'static str,
    /// Where the secret is in the original text.
    pub range: Range<usize>,
}

/// The result of [`redact`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText<'a> {
    /// Text with a marker in place of each secret.
    pub text: Cow<'a, str>,
    /// Secrets that were redacted, in the order of the text.
    pub findings: Vec<Finding>,
}

struct Patterns {
    /// Selects the rules for tokens that match a text, in one pass.
    tokens: RegexSet,
    /// Rule of each pattern in `tokens`.
    token_rules: Vec<usize>,
    /// Finds the words that other rules need, in one pass.
    words: AhoCorasick,
    /// Rule that needs each word.
    word_rules: Vec<usize>,
    /// Compiled on first use, because most rules never match.
    regexes: Vec<OnceLock<Option<Regex>>>,
}

impl Patterns {
    fn compile() -> Option<Self> {
        let is_token = |index: &usize| RULES[*index].needs.is_empty();
        let token_rules: Vec<usize> = (0..RULES.len()).filter(is_token).collect();
        let sources = token_rules.iter().map(|index| RULES[*index].pattern);
        let tokens = RegexSet::new(sources).inspect_err(log_invalid_pattern).ok()?;
        let needs = || {
            RULES
                .iter()
                .enumerate()
                .flat_map(|(index, rule)| rule.needs.iter().map(move |word| (index, word)))
        };
        let words =
            AhoCorasick::builder().ascii_case_insensitive(true).build(needs().map(|(_, word)| word)).ok()?;
        let word_rules = needs().map(|(index, _)| index).collect();
        Some(Self {
            tokens,
            token_rules,
            words,
            word_rules,
            regexes: RULES.iter().map(|_| OnceLock::new()).collect(),
        })
    }

    /// Returns the rules that may match a text, in their order.
    fn candidates(&self, text: &str) -> BTreeSet<usize> {
        let tokens = self.tokens.matches(text).into_iter().map(|index| self.token_rules[index]);
        let words =
            self.words.find_overlapping_iter(text).map(|found| self.word_rules[found.pattern().as_usize()]);
        tokens.chain(words).collect()
    }
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(Patterns::compile);

/// A test compiles every pattern, so this cannot happen in a tested build.
fn log_invalid_pattern(error: &regex::Error) {
    tracing::error!(%error, "a redaction pattern is invalid; secrets of this kind are not redacted");
}

/// The start of what replaces a secret.
const MARKER: &str = "[redacted: ";

/// Returns whether a position is in the marker of an earlier redaction, which may consist of words like "access key".
pub(crate) fn is_in_marker(text: &str, position: usize) -> bool {
    // A marker is short.
    let before = &text[text.floor_char_boundary(position.saturating_sub(64))..position];
    before.rfind(MARKER).is_some_and(|start| !before[start..].contains(']'))
}

/// Returns the secrets in a text, in the order of the text. They do not overlap.
pub fn find(text: &str) -> Vec<Finding> {
    let mut findings: BTreeMap<usize, Finding> = BTreeMap::new();
    let mut add = |kind, reason, range: Range<usize>| {
        let before = findings.range(..=range.start).next_back();
        let after = findings.range(range.start..).next();
        let is_free = before.is_none_or(|(_, other)| other.range.end <= range.start)
            && after.is_none_or(|(start, _)| range.end <= *start);
        let is_marker = text[range.clone()].contains(MARKER) || is_in_marker(text, range.start);
        if is_free && !is_marker {
            findings.insert(range.start, Finding { kind, reason, range });
        }
    };
    if let Some(patterns) = PATTERNS.as_ref() {
        for index in patterns.candidates(text) {
            let rule = &RULES[index];
            let compile = || Regex::new(rule.pattern).inspect_err(log_invalid_pattern).ok();
            let Some(regex) = patterns.regexes[index].get_or_init(compile) else { continue };
            for secret in regex.captures_iter(text).filter_map(|captures| captures.name("secret")) {
                if rule.accepts(secret.as_str()) {
                    add(rule.name, rule.reason, secret.range());
                }
            }
        }
    }
    for labeled in labels::find(text) {
        let kind = match labeled.kind {
            LabelKind::Password => "password",
            LabelKind::Key | LabelKind::Ambiguous => "secret",
        };
        add(kind, "follows a label and looks like a secret", labeled.range);
    }
    for range in lists::find(text) {
        add("secret in a list", "stands under a heading for secrets", range);
    }
    findings.into_values().collect()
}

/// Replaces every secret in `text` with a marker and returns the findings.
pub fn redact(text: &str) -> RedactedText<'_> {
    redact_except(text, &|_| false)
}

/// Like [`redact`], but keeps the secrets that are allowed.
pub fn redact_except<'a>(text: &'a str, is_allowed: &dyn Fn(&str) -> bool) -> RedactedText<'a> {
    let mut findings = find(text);
    findings.retain(|finding| !is_allowed(&text[finding.range.clone()]));
    if findings.is_empty() {
        return RedactedText { text: Cow::Borrowed(text), findings };
    }
    let mut redacted = String::with_capacity(text.len());
    let mut end = 0;
    for finding in &findings {
        redacted.push_str(&text[end..finding.range.start]);
        redacted.push_str(&format!("{MARKER}{}]", finding.kind));
        end = finding.range.end;
    }
    redacted.push_str(&text[end..]);
    RedactedText { text: Cow::Owned(redacted), findings }
}

/// Returns `text` with every secret replaced by a marker.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    redact(text).text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_a_secret_group() {
        assert!(PATTERNS.is_some());
        for rule in RULES {
            assert!(rule.pattern.contains("(?<secret>"), "{}", rule.name);
            assert!(Regex::new(rule.pattern).is_ok(), "{}", rule.name);
        }
    }

    #[test]
    fn text_around_a_secret_is_unchanged() {
        let redacted =
            redact("Use postgres://app:s3cr3t-pw@db:5432/x, and ghp_0123456789abcdefghijABCDEFGHIJ012345.");
        assert_eq!(
            redacted.text,
            "Use postgres://app:[redacted: password in an address]@db:5432/x, and [redacted: GitHub token]."
        );
        let kinds: Vec<_> = redacted.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, ["password in an address", "GitHub token"]);
    }

    #[test]
    fn an_ampersand_ends_a_value_only_before_another_one() {
        for (text, expected) in [
            ("password: Tr0ub4dor&3zebra", "password: [redacted: password]"),
            ("?password=Tr0ub4dor3x&next=/home", "?password=[redacted: password]&next=/home"),
            ("PASSWORD=Tr0ub4dor3x && run", "PASSWORD=[redacted: password] && run"),
        ] {
            assert_eq!(redact(text).text, expected);
        }
    }

    #[test]
    fn prose_and_code_without_secrets_are_unchanged() {
        for text in [
            "My password is something I should change; where do I keep tokens?",
            "let password = prompt_password(\"Password: \")?;",
            "password = os.environ[\"DB_PASSWORD\"]",
            "api_key: ${API_KEY}",
            "token = <your-token-here>",
            "secret: ********",
            "PASSWORD=changeme",
            "https://example.org/a:b@c and mailto:olaf@nordheat.example",
            "git@github.com:owner/name.git",
            "commit 3f2504e04f8911d39a0c0305e82c3301aabbccdd",
            "550e8400-e29b-41d4-a716-446655440000",
            "sk-learn and task-based work",
            "The key is under the pot.",
            "tokens: 12345678, max_tokens = 4096000000",
            "fn token(&self) -> Token { self.token }",
            "A file that starts with -----BEGIN PRIVATE KEY----- must not be committed. Then we went to lunch.",
            "public Task RunAsync(CancellationToken token: CancellationToken)",
            "PWD=/home/sam/projects/kettle",
            "secret = hashlib.sha256",
            "password: somewhere-in-the-drawer",
            "“password=abcdefg” —DB_PASSWORD=xyz 🔑PASSWORD=abc\u{a0}PASSWORD=abc “MOT_DE_PASSWORD=”",
        ] {
            assert_eq!(redact(text).findings, [], "{text}");
            assert_eq!(redact(text).text, text);
        }
    }

    proptest! {
        #[test]
        fn redaction_is_idempotent(text in "\\PC{0,200}") {
            let once = redact(&text).text.into_owned();
            prop_assert_eq!(redact(&once).text, once.as_str());
        }
    }
}
