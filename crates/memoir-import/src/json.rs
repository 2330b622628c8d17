//! Reading JSON that others wrote, and that may change without notice: what cannot be read is missing, and takes nothing
//! else with it.

use std::fmt;

use memoir_core::Timestamp;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// A value, if it is what it should be.
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
    /// The text, or nothing where it is empty.
    pub(crate) fn text(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }

    /// The moment that is written there.
    pub(crate) fn moment(&self) -> Option<Timestamp> {
        moment(self.text()?)
    }
}

impl Lenient<bool> {
    pub(crate) fn is_true(&self) -> bool {
        self.0 == Some(true)
    }
}

/// A moment in RFC 3339.
pub(crate) fn moment(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_millis(moment.as_millisecond()))
}

/// A moment in seconds since 1970, within the calendar.
pub(crate) fn seconds(seconds: f64) -> Option<Timestamp> {
    let moment = jiff::Timestamp::from_millisecond((seconds * 1000.0).round() as i64).ok()?;
    (seconds > 0.0).then(|| Timestamp::from_millis(moment.as_millisecond()))
}

/// The elements of an array, as they stand.
pub(crate) struct Elements<'a> {
    /// Those that can be told apart.
    pub(crate) read: Vec<&'a RawValue>,
    /// Whether the array goes on with what is no JSON, as that of a file that was cut off.
    pub(crate) broken: bool,
}

/// The elements of a text that is an array.
pub(crate) fn elements(text: &str) -> Option<Elements<'_>> {
    let text = without_mark(text);
    if !text.trim_start().starts_with('[') {
        return None;
    }
    let mut read = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let whole = deserializer.deserialize_seq(Gatherer(&mut read)).and_then(|()| deserializer.end());
    Some(Elements { read, broken: whole.is_err() })
}

/// Gathers elements as they come, so that those before a fault are kept.
struct Gatherer<'v, 'a>(&'v mut Vec<&'a RawValue>);

impl<'de> Visitor<'de> for Gatherer<'_, 'de> {
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

/// The lines of a text that say something.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    without_mark(text).lines().map(str::trim).filter(|line| !line.is_empty())
}

/// A text without the mark that some programs put at its beginning.
pub(crate) fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn elements_before_a_fault_are_kept() {
        let whole = elements("\u{feff} [1, {\"a\": [2]}, \"x\"] ").unwrap();
        assert_eq!(
            whole.read.iter().map(|raw| raw.get()).collect::<Vec<_>>(),
            ["1", "{\"a\": [2]}", "\"x\""]
        );
        assert!(!whole.broken);
        let cut = elements("[1, {\"a\": [2").unwrap();
        assert_eq!((cut.read.len(), cut.broken), (1, true));
        assert!(elements("{}").is_none());
    }

    #[test]
    fn what_is_not_what_it_should_be_is_missing() {
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
    fn times_outside_the_calendar_are_no_times() {
        assert_eq!(seconds(1_700_000_000.5), Some(Timestamp::from_millis(1_700_000_000_500)));
        for odd in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 1e13] {
            assert_eq!(seconds(odd), None, "{odd}");
        }
        assert_eq!(moment("2024-05-01T10:00:00.123456+02:00"), moment("2024-05-01T08:00:00.123Z"));
        assert_eq!(moment("yesterday"), None);
    }
}
