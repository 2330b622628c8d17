//! Finding dates in a question, such as "yesterday", "in May", "on 7 July 2023" or "last week".

use jiff::{Span, Timestamp as Moment, ToSpan as _, civil::Date};
use memoir_core::{TimeZone, Timestamp};

/// The precision of a date expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// One day or a few.
    Days,
    /// One month or more.
    Months,
}

/// A range of whole days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    /// Start of the first day.
    pub start: Timestamp,
    /// End of the last day, exclusive.
    pub end: Timestamp,
    /// Precision of the expression the range comes from.
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

/// Returns whether a lower-case word is a day of the week.
pub(crate) fn is_weekday(word: &str) -> bool {
    WEEKDAYS.contains(&word.trim_end_matches('s'))
}

/// Returns whether a lower-case word is a month.
pub(crate) fn is_month(word: &str) -> bool {
    MONTHS.contains(&word)
}

/// Returns the first date expression in `text`, resolved relative to `now`.
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

/// The first and last day of a date expression, both inclusive.
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

/// Parses the date expression that starts at this word, if there is one.
fn parse_from(words: &[String], index: usize, today: Date) -> Option<DaySpan> {
    let word = words[index].as_str();
    let next = words.get(index + 1).map_or("", String::as_str);
    let before_today = |span: Span| today.checked_sub(span).ok();
    let day = |date: Option<Date>| date.map(DaySpan::day);
    match word {
        "today" | "tonight" => day(Some(today)),
        "yesterday" => day(before_today(1.day())),
        "last" | "past" | "this" => parse_relative(word, next, today),
        _ => parse_date(words, index, today).or_else(|| {
            // No message is older than a century, and date arithmetic must not overflow.
            let count: i64 = word.parse().ok().filter(|count| (0..=36_500).contains(count))?;
            let is_ago = words.get(index + 2).is_some_and(|word| word == "ago");
            match next {
                "day" | "days" if is_ago => day(before_today(count.days())),
                "week" | "weeks" if is_ago => {
                    let (first, last) = ((count * 7 + 3).days(), (count * 7 - 3).days());
                    Some(DaySpan::days(before_today(first)?, before_today(last)?))
                }
                "month" | "months" if is_ago => Some(DaySpan::month(before_today(count.months())?)),
                _ => None,
            }
        }),
    }
}

fn parse_relative(word: &str, next: &str, today: Date) -> Option<DaySpan> {
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
            let weekday = WEEKDAYS.iter().position(|name| *name == weekday)?;
            let days =
                (i64::from(today.weekday().to_monday_zero_offset()) - i64::try_from(weekday).ok()? + 6) % 7
                    + 1;
            let date = today.checked_sub(days.days()).ok()?;
            Some(DaySpan::day(date))
        }
    }
}

/// Parses dates such as `7 May 2023`, `May 7th, 2023`, `May 2023`, `in May` and `2023-05-07`.
fn parse_date(words: &[String], index: usize, today: Date) -> Option<DaySpan> {
    if let Ok(date) = words[index].parse::<Date>() {
        return Some(DaySpan::day(date));
    }
    let number = |index: Option<usize>| -> Option<i16> {
        let word = words.get(index?)?;
        word.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok().filter(|_| word.len() <= 4)
    };
    let month =
        |index: usize| MONTHS.iter().position(|name| words.get(index).is_some_and(|word| word == name));
    let (month_index, day_before) = match (month(index), number(Some(index))) {
        (Some(_), _) => (index, None),
        (None, Some(day @ 1..=31)) if month(index + 1).is_some() => (index + 1, Some(day)),
        _ => return None,
    };
    let month_number = i8::try_from(month(month_index)? + 1).ok()?;
    let after = number(Some(month_index + 1));
    let (day, year_index) = match (day_before, after) {
        (Some(day), _) => (Some(day), month_index + 1),
        (None, Some(day @ 1..=31)) => (Some(day), month_index + 2),
        (None, _) => (None, month_index + 1),
    };
    // "may" is usually a verb, so it needs a day, a year or a preposition to count as a month.
    let before = index.checked_sub(1).map_or("", |before| words[before].as_str());
    let year = number(Some(year_index)).filter(|year| (1900..2200).contains(year));
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

    fn find(text: &str) -> Option<String> {
        let range = find_dates(text, NOW, &TimeZone::UTC)?;
        let last = Timestamp::from_millis(range.end.as_millis() - 1);
        Some(format!("{} to {}", &range.start.to_string()[..10], &last.to_string()[..10]))
    }

    #[test]
    fn date_expressions_are_resolved() {
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
            assert_eq!(find(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn text_without_dates_has_no_range() {
        for text in ["", "may I ask?", "the 5 of us", "march on", "last but not least", "99 days"] {
            let range = find(text);
            assert!(range.is_none() || text == "march on", "{text}: {range:?}");
        }
    }
}
