//! Days as people name them, on the command line and in the program.

use memoir_core::Timestamp;
use memoir_recall::{DateRange, Recall, find_dates};

use crate::failure::Failure;

/// From the beginning of a day or a time on, if one is named.
pub fn since(text: Option<&str>, recall: &Recall) -> Result<Option<Timestamp>, Failure> {
    Ok(text.map(|text| range(text, recall)).transpose()?.map(|dates| dates.start))
}

/// Up to the end of a day or a time, if one is named.
pub fn until(text: Option<&str>, recall: &Recall) -> Result<Option<Timestamp>, Failure> {
    Ok(text.map(|text| range(text, recall)).transpose()?.map(|dates| dates.end))
}

fn range(text: &str, recall: &Recall) -> Result<DateRange, Failure> {
    find_dates(text, recall.clock.now(), &recall.zone).ok_or_else(|| {
        Failure::usage(format!("\"{text}\" is not a date"))
            .hint("Use 2026-05-01, yesterday, \"3 days ago\", \"last week\" or \"in May\".")
    })
}
