//! The URL of a store, such as `sqlite:PATH`.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    str::FromStr,
};

use crate::StoreError;

/// A scheme that selects a backend, and a location that the backend interprets.
///
/// The location may be a file path, so it need not be valid Unicode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUrl {
    scheme: String,
    location: OsString,
}

impl StoreUrl {
    /// Creates the URL `scheme:location`.
    pub fn new(scheme: impl Into<String>, location: impl Into<OsString>) -> Self {
        Self { scheme: scheme.into(), location: location.into() }
    }

    /// Returns the part before the first colon.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns the part after the first colon.
    pub fn location(&self) -> &OsStr {
        &self.location
    }
}

impl FromStr for StoreUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        match text.split_once(':') {
            Some((scheme, location)) if !scheme.is_empty() && !location.is_empty() => {
                Ok(Self::new(scheme, location))
            }
            _ => Err(StoreError::InvalidUrl { url: text.to_owned() }),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.scheme, self.location.display())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed test should panic")]

    use super::*;

    #[test]
    fn parses_scheme_and_location() {
        let url: StoreUrl = "sqlite:/home/a:b/memoir.db".parse().unwrap();
        assert_eq!((url.scheme(), url.location()), ("sqlite", OsStr::new("/home/a:b/memoir.db")));
        assert_eq!(url.to_string(), "sqlite:/home/a:b/memoir.db");
        for text in ["", "sqlite", "sqlite:", ":path"] {
            let parsed = text.parse::<StoreUrl>();
            assert!(matches!(parsed, Err(StoreError::InvalidUrl { .. })), "{text}");
        }
    }
}
