//! Time expressions in questions, such as "last week".

use memoir_core::{TimeZone, Timestamp};
use memoir_recall::find_dates;

use crate::input::{Choices, text};

/// Current times to test, from the first to the last moment of the calendar.
const NOW_MILLIS: [i64; 7] =
    [i64::MIN, -377_705_023_201_000, 0, 1_709_200_800_000, 1_794_700_800_000, 253_402_207_200_000, i64::MAX];

/// Includes a zone that skipped a whole day, and one where some days have no midnight.
const ZONES: [&str; 5] = ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "America/New_York"];

/// Checks that a date range does not end before it starts.
pub fn time_expressions(data: &[u8]) {
    let text = text(data);
    let zone = Choices::from(data).pick::<&str>(&ZONES);
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    for millis in NOW_MILLIS {
        let now = Timestamp::from_millis(millis);
        if let Some(range) = find_dates(&text, now, &zone) {
            assert!(range.start <= range.end, "{} to {} from {now}", range.start, range.end);
        }
    }
}
