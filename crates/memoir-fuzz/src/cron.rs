//! When a task is due: a cron line, a zone and a moment, each on a line of its own. Zone and moment may be missing.

use memoir_core::{Schedule, Timestamp};
use memoir_schedule::{check, next_due};

use crate::input::text;

/// Sunday, 15 November 2026.
const NOW: i64 = 1_794_700_800_000;

/// What comes next comes later, and nothing is passed by: seen from just before, it is the next.
pub fn cron(data: &[u8]) {
    let text = text(data);
    let mut lines = text.lines();
    let line = lines.next().unwrap_or_default().to_owned();
    let zone = lines.next().filter(|zone| !zone.is_empty()).unwrap_or("UTC").to_owned();
    let moment = |text: &str| {
        let told = text.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond);
        told.ok().or_else(|| text.parse().ok())
    };
    let now = Timestamp::from_millis(lines.next().and_then(moment).unwrap_or(NOW));
    let schedule = Schedule::Cron { line, zone };
    let Ok(next) = next_due(&schedule, now) else {
        assert!(check(&schedule, now).is_err(), "what is no schedule is never due");
        return;
    };
    assert_eq!(check(&schedule, now).ok(), next);
    let Some(next) = next else { return };
    assert!(next > now, "{next} comes after {now}");
    let before = Timestamp::from_millis(next.as_millis() - 1);
    assert_eq!(next_due(&schedule, before), Ok(Some(next)), "seen from just before {next}");
    match next_due(&schedule, next) {
        Ok(after) => assert!(after.is_none_or(|after| after > next), "{after:?} comes after {next}"),
        Err(error) => panic!("it is a schedule before {next} and none afterwards: {error}"),
    }
}
