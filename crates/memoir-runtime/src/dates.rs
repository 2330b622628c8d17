//! Parses dates such as "yesterday" or "last week".

use memoir_core::Timestamp;
use memoir_recall::{DateRange, Recall, find_dates};

use crate::failure::Failure;

/// Returns the start of the named day or period.
pub fn parse_since(text: Option<&str>, recall: &Recall) -> Result<Option<Timestamp>, Failure> {
    Ok(text.map(|text| range(text, recall)).transpose()?.map(|dates| dates.start))
}

/// Returns the end of the named day or period.
pub fn parse_until(text: Option<&str>, recall: &Recall) -> Result<Option<Timestamp>, Failure> {
    Ok(text.map(|text| range(text, recall)).transpose()?.map(|dates| dates.end))
}

fn range(text: &str, recall: &Recall) -> Result<DateRange, Failure> {
    find_dates(text, recall.clock.now(), &recall.zone).ok_or_else(|| {
        Failure::usage(format!("\"{text}\" is not a date"))
            .hint("Use 2026-05-01, yesterday, \"3 days ago\", \"last week\" or \"in May\".")
    })
}
