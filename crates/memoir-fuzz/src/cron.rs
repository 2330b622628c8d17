//! Due times of tasks. The input is a cron line, a time zone and a timestamp on separate lines; the last two
//! are optional.

use memoir_core::{Schedule, Timestamp};
use memoir_schedule::{check_schedule, next_due};

use crate::input::text;

/// Sunday, 15 November 2026.
const NOW: i64 = 1_794_700_800_000;

/// Checks that the next due time is in the future, and that no earlier one is skipped.
pub fn cron(data: &[u8]) {
    let text = text(data);
    let mut lines = text.lines();
    let line = lines.next().unwrap_or_default().to_owned();
    let zone = lines.next().filter(|zone| !zone.is_empty()).unwrap_or("UTC").to_owned();
    let parse_millis = |text: &str| {
        let millis = text.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond);
        millis.ok().or_else(|| text.parse().ok())
    };
    let now = Timestamp::from_millis(lines.next().and_then(parse_millis).unwrap_or(NOW));
    let schedule = Schedule::Cron { line, zone };
    let Ok(next) = next_due(&schedule, now) else {
        assert!(
            check_schedule(&schedule, now).is_err(),
            "`check_schedule` rejects schedules that `next_due` rejects"
        );
        return;
    };
    assert_eq!(check_schedule(&schedule, now).ok(), next);
    let Some(next) = next else { return };
    assert!(next > now, "{next} is not after {now}");
    let before = Timestamp::from_millis(next.as_millis() - 1);
    assert_eq!(next_due(&schedule, before), Ok(Some(next)), "just before {next}");
    match next_due(&schedule, next) {
        Ok(after) => assert!(after.is_none_or(|after| after > next), "{after:?} is not after {next}"),
        Err(error) => panic!("the schedule is valid before {next} and invalid afterwards: {error}"),
    }
}
