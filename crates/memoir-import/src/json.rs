//! Lenient reading of JSON whose schema other programs may change: a value of an unexpected type counts as
//! missing and does not affect the rest.

use std::fmt;

use memoir_core::Timestamp;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// A value, or `None` if it does not have the expected type.
#[derive(Debug, Clone)]
pub(crate) struct Lenient<T>(pub(crate) Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.get()).ok()))
    }
}

impl Lenient<String> {
    /// Returns the text, or `None` if it is missing or empty.
    pub(crate) fn text(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    /// Parses the text as an RFC 3339 timestamp.
    pub(crate) fn timestamp(&self) -> Option<Timestamp> {
        Timestamp::parse(self.text()?)
    }
}

impl Lenient<bool> {
    pub(crate) fn is_true(&self) -> bool {
        self.0 == Some(true)
    }
}

/// Converts seconds since 1970. Returns `None` if they are not positive or outside the calendar.
pub(crate) fn from_unix_seconds(seconds: f64) -> Option<Timestamp> {
    let timestamp = jiff::Timestamp::from_millisecond((seconds * 1000.0).round() as i64).ok()?;
    (seconds > 0.0).then(|| Timestamp::from_millis(timestamp.as_millisecond()))
}

/// Converts seconds or milliseconds since 1970. No time in milliseconds that programs write is as small as one in seconds.
pub(crate) fn from_unix(number: f64) -> Option<Timestamp> {
    const MIN_MILLISECONDS: f64 = 1e11;
    from_unix_seconds(if number < MIN_MILLISECONDS { number } else { number / 1000.0 })
}

/// The unparsed elements of a JSON array.
pub(crate) struct Elements<'a> {
    pub(crate) values: Vec<&'a RawValue>,
    /// Whether the text after `values` is not valid JSON, for example because the file is incomplete.
    pub(crate) is_truncated: bool,
}

/// Splits a JSON array into its elements. Returns `None` if the text is not an array.
pub(crate) fn elements(text: &str) -> Option<Elements<'_>> {
    let text = strip_bom(text);
    if !text.trim_start().starts_with('[') {
        return None;
    }
    let mut values = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let result =
        deserializer.deserialize_seq(ElementCollector(&mut values)).and_then(|()| deserializer.end());
    Some(Elements { values, is_truncated: result.is_err() })
}

/// Collects elements one by one, which preserves those before a syntax error.
struct ElementCollector<'v, 'a>(&'v mut Vec<&'a RawValue>);

impl<'de> Visitor<'de> for ElementCollector<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element()? {
            self.0.push(element);
        }
        Ok(())
    }
}

/// Returns the trimmed lines of a text, without empty ones.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    strip_bom(text).lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Removes the byte order mark that some programs write at the start of a file.
pub(crate) fn strip_bom(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn elements_before_a_syntax_error_are_returned() {
        let complete = elements("\u{feff} [1, {\"a\": [2]}, \"x\"] ").unwrap();
        assert_eq!(
            complete.values.iter().map(|raw| raw.get()).collect::<Vec<_>>(),
            ["1", "{\"a\": [2]}", "\"x\""]
        );
        assert!(!complete.is_truncated);
        let truncated = elements("[1, {\"a\": [2").unwrap();
        assert_eq!((truncated.values.len(), truncated.is_truncated), (1, true));
        assert!(elements("{}").is_none());
    }

    #[test]
    fn values_of_an_unexpected_type_are_missing() {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Odd {
            a: Lenient<String>,
            b: Lenient<bool>,
        }
        let odd: Odd = serde_json::from_str(r#"{"a": {"deep": [1]}, "b": true}"#).unwrap();
        assert!(odd.a.text().is_none());
        assert!(odd.b.is_true());
    }

    #[test]
    fn times_outside_the_calendar_are_rejected() {
        assert_eq!(from_unix_seconds(1_700_000_000.5), Some(Timestamp::from_millis(1_700_000_000_500)));
        for invalid in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 1e13] {
            assert_eq!(from_unix_seconds(invalid), None, "{invalid}");
        }
    }
}
