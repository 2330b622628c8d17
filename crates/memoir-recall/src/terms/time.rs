//! Scores messages from the dates mentioned in the question, or shortly before or after them.

use super::{Evidence, Term};
use crate::dates::{DateRange, Precision};

const WEIGHT: f64 = 1.0;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

pub(super) struct TimeTerm;

impl Term for TimeTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let Some(dates) = evidence.question.dates else { return };
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            *score += WEIGHT * proximity(dates, outline.created.as_millis());
        }
    }
}

/// Returns how close `millis` is to the dates, from 0 to 1. People mention a day on that day or soon after.
fn proximity(dates: DateRange, millis: i64) -> f64 {
    let (start, end) = (dates.start.as_millis(), dates.end.as_millis());
    if (start..end).contains(&millis) {
        return 1.0;
    }
    let (after, before) = (millis - end, start - millis);
    match dates.precision {
        Precision::Days if after >= 0 => {
            [0.7, 0.5, 0.3].get(usize::try_from(after / DAY_MILLIS).unwrap_or(9)).copied().unwrap_or(0.0)
        }
        Precision::Days => [0.4, 0.2]
            .get(usize::try_from((before - 1).max(0) / DAY_MILLIS).unwrap_or(9))
            .copied()
            .unwrap_or(0.0),
        Precision::Months if after >= 0 => {
            if after < 31 * DAY_MILLIS {
                0.2
            } else {
                0.0
            }
        }
        Precision::Months => {
            if before < 31 * DAY_MILLIS {
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
    use crate::terms::tests::{contribution, inquiry};

    #[test]
    fn the_day_itself_scores_highest_and_later_days_higher_than_earlier_ones() {
        let noon = |day: i64| (None, day * DAY_MILLIS + DAY_MILLIS / 2, false);
        let days = [noon(10), noon(11), noon(9), noon(13), noon(20)];
        let messages: Vec<_> =
            days.iter().map(|(author, created, is_question)| (1, *author, *created, *is_question)).collect();
        let mut inquiry = inquiry(&messages);
        assert_eq!(contribution(&TimeTerm, &inquiry), [0.0; 5], "the question has no dates");
        let start_of_day = |day: i64| Timestamp::from_millis(day * DAY_MILLIS);
        inquiry.question.dates =
            Some(DateRange { start: start_of_day(10), end: start_of_day(11), precision: Precision::Days });
        let scores = contribution(&TimeTerm, &inquiry);
        let rounded: Vec<f64> = scores.iter().map(|score| (score / WEIGHT * 10.0).round() / 10.0).collect();
        assert_eq!(rounded, [1.0, 0.7, 0.4, 0.3, 0.0]);
    }
}
