//! API keys and their redaction from messages.

use secrecy::{ExposeSecret as _, SecretString};

/// Minimum length of a key that is redacted. Shorter keys are placeholders that also occur in ordinary words.
const MIN_REDACTED_LENGTH: usize = 8;

/// The API key of a provider, if it has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secret(pub(crate) Option<SecretString>);

impl Secret {
    /// Returns the key for use in a request, or an empty string.
    pub(crate) fn expose(&self) -> &str {
        self.0.as_ref().map(SecretString::expose_secret).unwrap_or_default()
    }

    /// Replaces the key in `text`. Redact before truncating, because part of a key is a leak too.
    pub(crate) fn redact(&self, text: &str) -> String {
        match self.expose() {
            key if key.len() >= MIN_REDACTED_LENGTH => text.replace(key, "[key]"),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_redacted_and_placeholders_are_not() {
        let secret = |key: &str| Secret(Some(SecretString::from(key)));
        assert_eq!(secret("sk-12345678").redact("wrong key sk-12345678 given"), "wrong key [key] given");
        assert_eq!(secret("k").redact("check your key"), "check your key");
        assert_eq!(Secret(None).redact("as it is"), "as it is");
    }
}
