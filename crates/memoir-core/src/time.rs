//! Timestamps and the clock, which tests can replace.

use std::fmt;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// A point in time, in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Creates a timestamp from milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Parses a timestamp in RFC 3339.
    pub fn parse(text: &str) -> Option<Self> {
        let moment: jiff::Timestamp = text.parse().ok()?;
        Some(Self(moment.as_millisecond()))
    }

    /// Returns the number of milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the milliseconds elapsed since `earlier`, or zero if the clock went backwards.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Returns the day, month and year in `zone` as separate words, as in "8", "may", "2023".
    pub fn date_words_in(self, zone: &TimeZone) -> [String; 3] {
        jiff::Timestamp::from_millisecond(self.0).map_or_else(
            |_| Default::default(),
            |moment| {
                let date = moment.to_zoned(zone.clone());
                let month = date.strftime("%B").to_string().to_lowercase();
                [date.day().to_string(), month, date.year().to_string()]
            },
        )
    }

    /// Returns the date in `zone`, as in `2026-05-01`.
    pub fn format_date(self, zone: &TimeZone) -> String {
        let minute = self.format_minute(zone);
        minute.split_once(' ').map_or(minute.clone(), |(day, _)| day.to_owned())
    }

    /// Returns the date and time in `zone`, as in `2026-11-15 14:03`.
    pub fn format_minute(self, zone: &TimeZone) -> String {
        jiff::Timestamp::from_millisecond(self.0).map_or_else(
            |_| format!("{} ms", self.0),
            |moment| moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
        )
    }

    /// Returns the start of this day in `zone`.
    pub fn start_of_day(self, zone: &TimeZone) -> Self {
        let midnight = jiff::Timestamp::from_millisecond(self.0)
            .and_then(|moment| moment.to_zoned(zone.clone()).start_of_day())
            .map(|midnight| midnight.timestamp().as_millisecond());
        midnight.map_or(self, Self)
    }
}

/// Formats the timestamp as RFC 3339 in UTC, for machines.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// A source of the current time, which tests replace.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The clock of the operating system, with millisecond precision.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_rfc_3339_for_machines_and_local_minutes_for_people() {
        let moment = Timestamp::from_millis(1_700_000_000_123);
        assert_eq!(moment.to_string(), "2023-11-14T22:13:20.123Z");
        assert_eq!(moment.format_minute(&TimeZone::UTC), "2023-11-14 22:13");
        let midnight = moment.start_of_day(&TimeZone::UTC);
        assert_eq!(midnight.to_string(), "2023-11-14T00:00:00.000Z");
        assert_eq!(Timestamp::parse(&moment.to_string()), Some(moment));
        assert_eq!(
            Timestamp::parse("2024-05-01T10:00:00.123456+02:00"),
            Timestamp::parse("2024-05-01T08:00:00.123Z")
        );
        assert_eq!(Timestamp::parse("yesterday"), None);
    }

    #[test]
    fn elapsed_time_is_zero_if_the_clock_went_backwards() {
        let (earlier, later) = (Timestamp::from_millis(5), Timestamp::from_millis(9));
        assert_eq!(later.millis_since(earlier), 4);
        assert_eq!(earlier.millis_since(later), 0);
    }

    #[test]
    fn out_of_range_timestamps_can_be_formatted() {
        assert_eq!(Timestamp::from_millis(i64::MAX).to_string(), format!("{} ms", i64::MAX));
    }
}
