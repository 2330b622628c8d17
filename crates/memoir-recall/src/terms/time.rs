//! Whether it was said at the time that the question speaks of, or soon after.

use super::{Evidence, Term};
use crate::dates::{DateRange, Precision};

const WEIGHT: f64 = 0.6;

const DAY: i64 = 24 * 60 * 60 * 1000;

pub(super) struct TimeTerm;

impl Term for TimeTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let Some(dates) = evidence.question.dates else { return };
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            *score += WEIGHT * nearness(dates, outline.created.as_millis());
        }
    }
}

/// How near a moment is to the time asked about. People tell of a day on that day, or soon after.
fn nearness(dates: DateRange, moment: i64) -> f64 {
    let (start, end) = (dates.start.as_millis(), dates.end.as_millis());
    if (start..end).contains(&moment) {
        return 1.0;
    }
    let (after, before) = (moment - end, start - moment);
    match dates.precision {
        Precision::Days if after >= 0 => {
            [0.7, 0.5, 0.3].get(usize::try_from(after / DAY).unwrap_or(9)).copied().unwrap_or(0.0)
        }
        Precision::Days => {
            [0.4, 0.2].get(usize::try_from((before - 1).max(0) / DAY).unwrap_or(9)).copied().unwrap_or(0.0)
        }
        Precision::Months if after >= 0 => {
            if after < 31 * DAY {
                0.2
            } else {
                0.0
            }
        }
        Precision::Months => {
            if before < 31 * DAY {
                0.1
            } else {
                0.0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use memoir_core::Timestamp;

    use super::*;
    use crate::terms::tests::{added, inquiry};

    #[test]
    fn the_day_itself_counts_most_and_the_days_after_more_than_those_before() {
        let noon = |day: i64| (None, day * DAY + DAY / 2, false);
        let days = [noon(10), noon(11), noon(9), noon(13), noon(20)];
        let messages: Vec<_> =
            days.iter().map(|(author, created, asks)| (1, *author, *created, *asks)).collect();
        let mut inquiry = inquiry(&messages);
        assert_eq!(added(&TimeTerm, &inquiry), [0.0; 5], "no time is named");
        let at = Timestamp::from_millis;
        inquiry.question.dates =
            Some(DateRange { start: at(10 * DAY), end: at(11 * DAY), precision: Precision::Days });
        let added: Vec<f64> =
            added(&TimeTerm, &inquiry).iter().map(|value| (value / WEIGHT * 10.0).round() / 10.0).collect();
        assert_eq!(added, [1.0, 0.7, 0.4, 0.3, 0.0]);
    }
}
