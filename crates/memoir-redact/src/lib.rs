//! Secrets, found in text and taken out of it.
//!
//! Keys and tokens are known by how their issuers make them, passwords by where they stand: in an address, a header or an
//! assignment. What is found is replaced by a mark that says what it was; everything else stays as it was. The list of kinds
//! is in `kinds.rs`.

mod kinds;

use std::{
    borrow::Cow,
    sync::{LazyLock, OnceLock},
};

use regex::{Captures, Regex, RegexSet};

use kinds::KINDS;

/// Which secret was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it was: "GitHub token".
    pub kind: &'static str,
    /// Why it was taken for one.
    pub reason: &'static str,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// What is left, with a mark in the place of each secret.
    pub text: Cow<'a, str>,
    /// What was taken out, in the order of kinds.
    pub findings: Vec<Finding>,
}

struct Patterns {
    /// Tells which of them a text needs at all.
    any: RegexSet,
    /// Each is made when a text first needs it: few ever are.
    each: Vec<OnceLock<Option<Regex>>>,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let sources = || KINDS.iter().map(|kind| kind.pattern);
    let any = RegexSet::new(sources()).inspect_err(log_invalid_pattern).ok()?;
    Some(Patterns { any, each: KINDS.iter().map(|_| OnceLock::new()).collect() })
});

/// A text is returned as it is if its pattern is invalid. A test compiles every pattern, so that this happens only in a program
/// that has not passed its tests.
fn log_invalid_pattern(error: &regex::Error) {
    tracing::error!(%error, "a pattern for secrets is invalid; secrets of this kind are not redacted");
}

/// Takes every secret out of a text.
pub fn redact(text: &str) -> Redacted<'_> {
    let mut redacted = Redacted { text: Cow::Borrowed(text), findings: Vec::new() };
    // A test makes sure that all patterns are sound.
    let Some(patterns) = PATTERNS.as_ref() else { return redacted };
    for number in patterns.any.matches(text) {
        let kind = &KINDS[number];
        let mut found = 0;
        let compile = || Regex::new(kind.pattern).inspect_err(log_invalid_pattern).ok();
        let Some(pattern) = patterns.each[number].get_or_init(compile) else {
            continue;
        };
        let replaced = pattern.replace_all(&redacted.text, |captures: &Captures<'_>| {
            let whole = &captures[0];
            let Some(secret) = captures.name("secret").filter(|secret| kind.accepts(secret.as_str())) else {
                return whole.to_owned();
            };
            found += 1;
            let start = captures.get(0).map_or(0, |whole| whole.start());
            let (before, after) = (secret.start() - start, secret.end() - start);
            format!("{}[redacted: {}]{}", &whole[..before], kind.name, &whole[after..])
        });
        if found > 0 {
            redacted.text = Cow::Owned(replaced.into_owned());
            redacted.findings.extend((0..found).map(|_| Finding { kind: kind.name, reason: kind.reason }));
        }
    }
    redacted
}

/// The text alone.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    redact(text).text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_pattern_is_sound_and_names_its_secret() {
        assert!(PATTERNS.is_some());
        for kind in KINDS {
            assert!(kind.pattern.contains("(?<secret>"), "{}", kind.name);
            assert!(Regex::new(kind.pattern).is_ok(), "{}", kind.name);
        }
    }

    #[test]
    fn what_is_around_a_secret_stays() {
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
    fn plain_talk_and_code_without_secrets_are_left_alone() {
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
        fn twice_is_once_and_nothing_breaks(text in "\\PC{0,200}") {
            let once = redact(&text).text.into_owned();
            prop_assert_eq!(redact(&once).text, once.as_str());
        }
    }
}
