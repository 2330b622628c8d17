//! How much was said, and what it cost, by day.

use memoir_core::{TimeZone, Timestamp, Usd};
use memoir_store::Statistics;
use serde::Serialize;

use crate::failure::Failure;

/// Milliseconds of a day, apart from changes of daylight saving time.
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// What happened on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DayActivity {
    /// The date in the user's time zone, such as `2026-05-01`.
    pub date: String,
    /// Number of exchanges that started on that day.
    pub exchanges: u64,
    /// Number of their messages.
    pub messages: u64,
    /// Number of tokens of that day's calls of models.
    pub tokens: u64,
    /// Cost of those calls whose price is known.
    #[serde(rename = "cost_usd")]
    pub cost: Usd,
}

/// Returns the activity of the last `count` days up to now, oldest first, including days without any.
///
/// # Errors
///
/// Fails if the store cannot be read.
pub async fn list_days(
    count: u16,
    store: &(impl Statistics + ?Sized),
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Vec<DayActivity>, Failure> {
    let mut days: Vec<DayActivity> = Vec::new();
    let mut first = now.start_of_day(zone);
    for _ in 0..count {
        let date = first.format_date(zone);
        days.push(DayActivity { date, exchanges: 0, messages: 0, tokens: 0, cost: Usd::ZERO });
        // The middle of the day before, whether that has 23 or 25 hours.
        first = Timestamp::from_millis(first.as_millis() - DAY_MILLIS / 2).start_of_day(zone);
    }
    days.reverse();
    for counted in store.activity(first).await? {
        let date = counted.start.format_date(zone);
        // Nothing is expected on other days but what was said while this was read.
        let Ok(position) = days.binary_search_by(|day| day.date.as_str().cmp(&date)) else { continue };
        let day = &mut days[position];
        day.exchanges += counted.exchanges;
        day.messages += counted.messages;
        day.tokens += counted.tokens;
        day.cost = day.cost + counted.cost;
    }
    Ok(days)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::operations::test_support::store_with;

    #[tokio::test]
    async fn days_without_activity_and_days_of_25_hours_are_listed_once() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now = Timestamp::from_millis(1_793_000_000_000); // 2026-10-26, after the end of summer time
        let (store, _) = store_with(&[]).await;
        let days = list_days(4, &store, now, &zone).await.unwrap();
        let dates: Vec<&str> = days.iter().map(|day| day.date.as_str()).collect();
        assert_eq!(dates, ["2026-10-23", "2026-10-24", "2026-10-25", "2026-10-26"]);
    }
}
