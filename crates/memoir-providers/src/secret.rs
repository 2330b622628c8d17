//! A key, and keeping it out of what is shown.

use secrecy::{ExposeSecret as _, SecretString};

/// Shorter ones are placeholders for servers that want any key, and occur in ordinary words.
const SHORTEST: usize = 8;

/// The key of a provider, if it has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secret(pub(crate) Option<SecretString>);

impl Secret {
    /// The key itself, for the request.
    pub(crate) fn expose(&self) -> &str {
        self.0.as_ref().map(SecretString::expose_secret).unwrap_or_default()
    }

    /// `text` without the key. To be done before anything is cut off: half a key is a leak too.
    pub(crate) fn redact(&self, text: &str) -> String {
        match self.expose() {
            key if key.len() >= SHORTEST => text.replace(key, "[key]"),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_and_a_placeholder_is_not() {
        let secret = |key: &str| Secret(Some(SecretString::from(key)));
        assert_eq!(secret("sk-12345678").redact("wrong key sk-12345678 given"), "wrong key [key] given");
        assert_eq!(secret("k").redact("check your key"), "check your key");
        assert_eq!(Secret(None).redact("as it is"), "as it is");
    }
}
