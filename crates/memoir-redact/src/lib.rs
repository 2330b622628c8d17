//! Finds secrets in text and redacts them.
//!
//! Keys and tokens are recognized by their format, passwords by their position in a URL, a header or an assignment.
//! Each secret is replaced by a marker that names its kind; all other text is unchanged. The kinds are listed in
//! `kinds.rs`.

mod kinds;

use std::{
    borrow::Cow,
    sync::{LazyLock, OnceLock},
};

use regex::{Captures, Regex, RegexSet};

use kinds::KINDS;

/// A secret that was found and redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Kind of secret, as in "GitHub token".
    pub kind: &'static str,
    /// Why the text was considered a secret.
    pub reason: &'static str,
}

/// The result of [`redact`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText<'a> {
    /// Text with a marker in place of each secret.
    pub text: Cow<'a, str>,
    /// Secrets that were redacted, in the order of `KINDS`.
    pub findings: Vec<Finding>,
}

struct Patterns {
    /// Selects the patterns that match a text, in one pass.
    set: RegexSet,
    /// Compiled on first use, because most kinds never occur.
    regexes: Vec<OnceLock<Option<Regex>>>,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let sources = || KINDS.iter().map(|kind| kind.pattern);
    let set = RegexSet::new(sources()).inspect_err(log_invalid_pattern).ok()?;
    Some(Patterns { set, regexes: KINDS.iter().map(|_| OnceLock::new()).collect() })
});

/// A test compiles every pattern, so this cannot happen in a tested build.
fn log_invalid_pattern(error: &regex::Error) {
    tracing::error!(%error, "a redaction pattern is invalid; secrets of this kind are not redacted");
}

/// Replaces every secret in `text` with a marker and returns the findings.
pub fn redact(text: &str) -> RedactedText<'_> {
    let mut redacted = RedactedText { text: Cow::Borrowed(text), findings: Vec::new() };
    let Some(patterns) = PATTERNS.as_ref() else { return redacted };
    for index in patterns.set.matches(text) {
        let kind = &KINDS[index];
        let mut redaction_count = 0;
        let compile = || Regex::new(kind.pattern).inspect_err(log_invalid_pattern).ok();
        let Some(regex) = patterns.regexes[index].get_or_init(compile) else {
            continue;
        };
        let new_text = regex.replace_all(&redacted.text, |captures: &Captures<'_>| {
            let whole = &captures[0];
            let Some(secret) = captures.name("secret").filter(|secret| kind.accepts(secret.as_str())) else {
                return whole.to_owned();
            };
            redaction_count += 1;
            let start = captures.get(0).map_or(0, |whole| whole.start());
            let (before, after) = (secret.start() - start, secret.end() - start);
            format!("{}[redacted: {}]{}", &whole[..before], kind.name, &whole[after..])
        });
        if redaction_count > 0 {
            redacted.text = Cow::Owned(new_text.into_owned());
            let finding = Finding { kind: kind.name, reason: kind.reason };
            redacted.findings.extend((0..redaction_count).map(|_| finding.clone()));
        }
    }
    redacted
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
        for kind in KINDS {
            assert!(kind.pattern.contains("(?<secret>"), "{}", kind.name);
            assert!(Regex::new(kind.pattern).is_ok(), "{}", kind.name);
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
        let mut kinds: Vec<_> = redacted.findings.iter().map(|finding| finding.kind).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, ["GitHub token", "password in an address"]);
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
