//! Computes when a schedule is due.

use std::collections::BTreeSet;

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{Zoned, tz::TimeZone};
use memoir_core::{Schedule, Timestamp};

/// Why a schedule is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// The cron line cannot be parsed.
    #[error("\"{line}\" is not a cron line: {reason}")]
    Line {
        /// The line as the user wrote it.
        line: String,
        /// The message of the parser.
        reason: String,
    },
    /// The time zone database has no zone of this name.
    #[error("there is no time zone \"{0}\"")]
    Zone(String),
    /// No date matches the cron line.
    #[error("\"{0}\" is never due")]
    Never(String),
    /// The time of a schedule that runs once is in the past.
    #[error("that time is in the past")]
    Past,
}

/// Checks a schedule and returns when it is first due.
///
/// # Errors
///
/// Fails if the schedule is invalid or never due.
pub fn check_schedule(schedule: &Schedule, now: Timestamp) -> Result<Timestamp, CronError> {
    next_due(schedule, now)?.ok_or_else(|| match schedule {
        Schedule::Cron { line, .. } => CronError::Never(line.clone()),
        Schedule::Once(_) => CronError::Past,
    })
}

/// Returns the next time after `after` at which the schedule is due, or `None` if there is none.
///
/// # Errors
///
/// Fails if the cron line or the time zone is invalid.
pub fn next_due(schedule: &Schedule, after: Timestamp) -> Result<Option<Timestamp>, CronError> {
    let (line, zone) = match schedule {
        Schedule::Once(moment) => return Ok((*moment > after).then_some(*moment)),
        Schedule::Cron { line, zone } => (line, zone),
    };
    let crons = split_fixed_times(line).iter().map(|line| parse(line)).collect::<Result<Vec<_>, _>>()?;
    let zone = TimeZone::get(zone).map_err(|_| CronError::Zone(zone.clone()))?;
    let Ok(after) = jiff::Timestamp::from_millisecond(after.as_millis()) else { return Ok(None) };
    let after: Zoned = after.to_zoned(zone);
    // The search fails if there is no match within its range of years, which means that the schedule is never due.
    let next = crons.iter().filter_map(|cron| cron.find_next_occurrence(&after, false).ok()).min();
    Ok(next.map(|next| Timestamp::from_millis(next.timestamp().as_millisecond())))
}

/// Splits a line that lists fixed times into one line per time. Only then does each time occur exactly once in a night
/// in which the clocks change. Returns other lines unchanged.
fn split_fixed_times(line: &str) -> Vec<String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (seconds, minutes, hours, rest) = match fields.as_slice() {
        [minutes, hours, rest @ ..] if rest.len() == 3 => (None, minutes, hours, rest),
        [seconds, minutes, hours, rest @ ..] if rest.len() == 3 && is_number(seconds) => {
            (Some(seconds), minutes, hours, rest)
        }
        _ => return vec![line.to_owned()],
    };
    let (Some(minutes), Some(hours)) = (parse_numbers(minutes), parse_numbers(hours)) else {
        return vec![line.to_owned()];
    };
    let seconds = seconds.map_or_else(String::new, |seconds| format!("{seconds} "));
    let rest = rest.join(" ");
    let mut lines = Vec::new();
    for hour in &hours {
        for minute in &minutes {
            lines.push(format!("{seconds}{minute} {hour} {rest}"));
        }
    }
    lines
}

/// Returns the distinct numbers of a comma-separated list, or `None` if it has anything else. Numbers of 60 and above
/// are left for the parser to reject.
fn parse_numbers(list: &str) -> Option<BTreeSet<u8>> {
    let parse_number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse().ok().filter(|number| *number < 60),
        false => None,
    };
    list.split(',').map(parse_number).collect()
}

fn parse(line: &str) -> Result<Cron, CronError> {
    let parser = CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build();
    parser
        .parse(line.trim())
        .map_err(|error| CronError::Line { line: line.to_owned(), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn cron(line: &str, zone: &str) -> Schedule {
        Schedule::Cron { line: line.into(), zone: zone.into() }
    }

    fn timestamp(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    fn next_after(line: &str, zone: &str, moment: &str) -> String {
        let next = next_due(&cron(line, zone), timestamp(moment)).unwrap().unwrap();
        jiff::Timestamp::from_millisecond(next.as_millis()).unwrap().to_string()
    }

    #[test]
    fn five_fields_six_fields_and_zones() {
        assert_eq!(next_after("*/15 * * * *", "UTC", "2026-05-01T10:07:00Z"), "2026-05-01T10:15:00Z");
        assert_eq!(
            next_after("*/15 * * * *", "UTC", "2026-05-01T10:15:00Z"),
            "2026-05-01T10:30:00Z",
            "the next time is strictly later"
        );
        assert_eq!(
            next_after("30 0 9 * * *", "Europe/Berlin", "2026-05-01T10:00:00Z"),
            "2026-05-02T07:00:30Z"
        );
        assert_eq!(
            next_after("0 9 * * MON-FRI", "America/New_York", "2026-05-01T14:00:00Z"),
            "2026-05-04T13:00:00Z"
        );
    }

    #[test]
    fn invalid_schedules_are_rejected() {
        let now = timestamp("2026-05-01T10:00:00Z");
        let error = |schedule: Schedule| check_schedule(&schedule, now).unwrap_err().to_string();
        assert_eq!(error(cron("0 0 30 2 *", "UTC")), "\"0 0 30 2 *\" is never due");
        assert_eq!(error(cron("0 0 * * *", "Mars/Olympus")), "there is no time zone \"Mars/Olympus\"");
        for invalid in ["", "every day", "61 * * * *", "* * * *", "* * * * * * *"] {
            assert!(
                error(cron(invalid, "UTC")).starts_with(&format!("\"{invalid}\" is not a cron line: ")),
                "{invalid}"
            );
        }
        assert_eq!(error(Schedule::Once(timestamp("2026-04-01T10:00:00Z"))), "that time is in the past");
        assert_eq!(
            check_schedule(&Schedule::Once(timestamp("2026-06-01T10:00:00Z")), now),
            Ok(timestamp("2026-06-01T10:00:00Z"))
        );
    }

    #[test]
    fn repeated_numbers_do_not_multiply_lines() {
        let repeated = ["1"; 1000].join(",");
        assert_eq!(split_fixed_times(&format!("{repeated},01 {repeated} * * *")), ["1 1 * * *"]);
        assert_eq!(
            split_fixed_times("1,61 2 * * *"),
            ["1,61 2 * * *"],
            "an invalid line stays as the user wrote it"
        );
        assert_eq!(split_fixed_times("30 5,1 2,14 * * *").len(), 4);
    }

    #[test]
    fn nothing_is_skipped_or_repeated_when_the_clocks_change() {
        // Clocks go back at 03:00 on October 25 and forward at 02:00 on March 29.
        for (from, until, quarters) in [
            ("2026-10-22T00:00:00+02:00", "2026-10-29T00:00:00+01:00", 7 * 96 + 4),
            ("2026-03-26T00:00:00+01:00", "2026-04-02T00:00:00+02:00", 7 * 96 - 4),
        ] {
            let (mut moment, until) = (timestamp(from), timestamp(until));
            let mut count = 0;
            loop {
                let next = next_due(&cron("*/15 * * * *", "Europe/Berlin"), moment).unwrap().unwrap();
                assert!(next > moment);
                assert!(next.as_millis() - moment.as_millis() <= 15 * 60 * 1000, "{next:?}");
                if next > until {
                    break;
                }
                (moment, count) = (next, count + 1);
            }
            assert_eq!(count, quarters);
        }
        // Each of several fixed times occurs once, in either night.
        for (line, from, moments) in [
            (
                "30 2,14 * * *",
                "2026-10-25T00:00:00+02:00",
                ["2026-10-25T00:30:00Z", "2026-10-25T13:30:00Z", "2026-10-26T01:30:00Z"],
            ),
            (
                "30 2,14 * * *",
                "2026-03-29T00:00:00+01:00",
                ["2026-03-29T01:00:00Z", "2026-03-29T12:30:00Z", "2026-03-30T00:30:00Z"],
            ),
        ] {
            let mut moment = timestamp(from);
            for expected in moments {
                moment = next_due(&cron(line, "Europe/Berlin"), moment).unwrap().unwrap();
                assert_eq!(
                    jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap().to_string(),
                    expected
                );
            }
        }
        let mut moment = timestamp("2026-10-24T00:00:00+02:00");
        let mut days = Vec::new();
        for _ in 0..3 {
            moment = next_due(&cron("30 2 * * *", "Europe/Berlin"), moment).unwrap().unwrap();
            days.push(jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap().to_string());
        }
        assert_eq!(days, ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]);
    }
}
