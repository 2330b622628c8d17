//! Times that a question speaks of.

use memoir_core::{TimeZone, Timestamp};
use memoir_recall::find_dates;

use crate::input::{Choices, text};

/// From the first to the last moment of the calendar.
const MOMENTS: [i64; 7] =
    [i64::MIN, -377_705_023_201_000, 0, 1_709_200_800_000, 1_794_700_800_000, 253_402_207_200_000, i64::MAX];

/// One with a day that never was, and one where midnight is missing in some nights, among them.
const ZONES: [&str; 5] = ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "America/New_York"];

/// A time begins before it ends.
pub fn time_expressions(data: &[u8]) {
    let text = text(data);
    let zone = Choices::from(data).pick::<&str>(&ZONES);
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    for moment in MOMENTS {
        let now = Timestamp::from_millis(moment);
        if let Some(range) = find_dates(&text, now, &zone) {
            assert!(range.start <= range.end, "{} to {} from {now}", range.start, range.end);
        }
    }
}
