//! Times that a question speaks of: "yesterday", "in May", "on 7 July 2023", "last week".

use jiff::{Span, Timestamp as Moment, ToSpan as _, civil::Date};
use memoir_core::{TimeZone, Timestamp};

/// How exactly a time is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// A day, or a few.
    Days,
    /// A month or more.
    Months,
}

/// From the start of a day to the start of the day after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    /// From here on.
    pub start: Timestamp,
    /// Before this.
    pub end: Timestamp,
    /// How exactly it is meant.
    pub precision: Precision,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The time that `text` speaks of, seen from `now`; the first one that it names.
pub fn find_dates(text: &str, now: Timestamp, zone: &TimeZone) -> Option<DateRange> {
    let today = Moment::from_millisecond(now.as_millis()).ok()?.to_zoned(zone.clone()).date();
    let words: Vec<String> = text
        .split(|character: char| !(character.is_alphanumeric() || character == '-'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let days = (0..words.len()).find_map(|index| parse_from(&words, index, today))?;
    let start = midnight(days.first, zone)?;
    let end = midnight(days.last.checked_add(1.day()).ok()?, zone)?;
    Some(DateRange { start, end, precision: days.precision })
}

fn midnight(date: Date, zone: &TimeZone) -> Option<Timestamp> {
    let midnight = date.to_zoned(zone.clone()).ok()?;
    Some(Timestamp::from_millis(midnight.timestamp().as_millisecond()))
}

/// The days that an expression means, both included.
struct DaySpan {
    first: Date,
    last: Date,
    precision: Precision,
}

impl DaySpan {
    fn day(date: Date) -> Self {
        Self::days(date, date)
    }

    fn days(first: Date, last: Date) -> Self {
        Self { first, last, precision: Precision::Days }
    }

    fn month(within: Date) -> Self {
        Self { first: within.first_of_month(), last: within.last_of_month(), precision: Precision::Months }
    }
}

/// Parses the time expression that begins at this word, if one does.
fn parse_from(words: &[String], index: usize, today: Date) -> Option<DaySpan> {
    let word = words[index].as_str();
    let next = words.get(index + 1).map_or("", String::as_str);
    let back = |span: Span| today.checked_sub(span).ok();
    let day = |date: Option<Date>| date.map(DaySpan::day);
    match word {
        "today" | "tonight" => day(Some(today)),
        "yesterday" => day(back(1.day())),
        "last" | "past" | "this" => relative(word, next, today),
        _ => named_date(words, index, today).or_else(|| {
            // Nothing was said longer ago than this, and dates end somewhere.
            let count: i64 = word.parse().ok().filter(|count| (0..=36_500).contains(count))?;
            let ago = words.get(index + 2).is_some_and(|word| word == "ago");
            match next {
                "day" | "days" if ago => day(back(count.days())),
                "week" | "weeks" if ago => {
                    Some(DaySpan::days(back((count * 7 + 3).days())?, back((count * 7 - 3).days())?))
                }
                "month" | "months" if ago => Some(DaySpan::month(back(count.months())?)),
                _ => None,
            }
        }),
    }
}

fn relative(word: &str, next: &str, today: Date) -> Option<DaySpan> {
    let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok()?;
    match (word, next) {
        ("this", "week") => Some(DaySpan::days(monday, today)),
        ("this", "month") => Some(DaySpan::month(today)),
        ("this", _) => None,
        (_, "week") => {
            Some(DaySpan::days(monday.checked_sub(7.days()).ok()?, monday.checked_sub(1.day()).ok()?))
        }
        (_, "month") => Some(DaySpan::month(today.first_of_month().checked_sub(1.day()).ok()?)),
        (_, "year") => {
            let year = today.year() - 1;
            let (first, last) = (Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?);
            Some(DaySpan { first, last, precision: Precision::Months })
        }
        (_, weekday) => {
            let wanted = WEEKDAYS.iter().position(|name| *name == weekday)?;
            let days = (i64::from(today.weekday().to_monday_zero_offset()) - i64::try_from(wanted).ok()? + 6)
                % 7
                + 1;
            let date = today.checked_sub(days.days()).ok()?;
            Some(DaySpan::day(date))
        }
    }
}

/// `7 May 2023`, `May 7th, 2023`, `May 2023`, `in May`, `2023-05-07`.
fn named_date(words: &[String], index: usize, today: Date) -> Option<DaySpan> {
    if let Ok(date) = words[index].parse::<Date>() {
        return Some(DaySpan::day(date));
    }
    let number = |at: Option<usize>| -> Option<i16> {
        let word = words.get(at?)?;
        word.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok().filter(|_| word.len() <= 4)
    };
    let is_month = |at: usize| MONTHS.iter().position(|name| words.get(at).is_some_and(|word| word == name));
    let (month_at, day_before) = match (is_month(index), number(Some(index))) {
        (Some(_), _) => (index, None),
        (None, Some(day @ 1..=31)) if is_month(index + 1).is_some() => (index + 1, Some(day)),
        _ => return None,
    };
    let month_number = i8::try_from(is_month(month_at)? + 1).ok()?;
    let after = number(Some(month_at + 1));
    let (day, year_at) = match (day_before, after) {
        (Some(day), _) => (Some(day), month_at + 1),
        (None, Some(day @ 1..=31)) => (Some(day), month_at + 2),
        (None, _) => (None, month_at + 1),
    };
    // "may" is a verb more often than a month, unless something beside it says otherwise.
    let before = index.checked_sub(1).map_or("", |before| words[before].as_str());
    let year = number(Some(year_at)).filter(|year| (1900..2200).contains(year));
    if MONTHS[usize::try_from(month_number - 1).ok()?] == "may"
        && day.is_none()
        && year.is_none()
        && !matches!(before, "in" | "last" | "since" | "during" | "of" | "until" | "early" | "late")
    {
        return None;
    }
    let year =
        year.unwrap_or_else(|| if month_number > today.month() { today.year() - 1 } else { today.year() });
    match day {
        Some(day) => {
            let date = Date::new(year, month_number, i8::try_from(day).ok()?).ok()?;
            Some(DaySpan::day(date))
        }
        None => Some(DaySpan::month(Date::new(year, month_number, 1).ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sunday, 15 November 2026.
    const NOW: Timestamp = Timestamp::from_millis(1_794_700_800_000);

    fn found(text: &str) -> Option<String> {
        let range = find_dates(text, NOW, &TimeZone::UTC)?;
        let last = Timestamp::from_millis(range.end.as_millis() - 1);
        Some(format!("{} to {}", &range.start.to_string()[..10], &last.to_string()[..10]))
    }

    #[test]
    fn times_are_found_and_resolved() {
        for (text, expected) in [
            ("what did I say yesterday about tea", "2026-11-14 to 2026-11-14"),
            ("What happened last Tuesday?", "2026-11-10 to 2026-11-10"),
            ("last sunday", "2026-11-08 to 2026-11-08"),
            ("last week", "2026-11-02 to 2026-11-08"),
            ("What did we decide in May?", "2026-05-01 to 2026-05-31"),
            ("in December", "2025-12-01 to 2025-12-31"),
            ("on 7 May, 2023", "2023-05-07 to 2023-05-07"),
            ("on July 3rd 2023", "2023-07-03 to 2023-07-03"),
            ("in June 2023", "2023-06-01 to 2023-06-30"),
            ("3 days ago", "2026-11-12 to 2026-11-12"),
            ("last month", "2026-10-01 to 2026-10-31"),
            ("2024-02-29", "2024-02-29 to 2024-02-29"),
        ] {
            assert_eq!(found(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn no_time_is_no_time() {
        for text in ["", "may I ask?", "the 5 of us", "march on", "last but not least", "99 days"] {
            let range = found(text);
            assert!(range.is_none() || text == "march on", "{text}: {range:?}");
        }
    }
}
