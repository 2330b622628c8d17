//! How near the message is in meaning, by itself and together with the one before, which it often answers.

use super::{Evidence, Term, scale};

const ALONE: f64 = 0.5;
const TOGETHER: f64 = 0.7;

pub(super) struct MeaningTerm;

impl Term for MeaningTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        for (weight, near) in [(ALONE, evidence.similarities), (TOGETHER, evidence.similarities_together)] {
            let scale = scale(near.iter().copied());
            scores.iter_mut().zip(near).for_each(|(score, near)| *score += weight * near.max(0.0) * scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{added, inquiry};

    #[test]
    fn the_nearest_counts_most_and_what_is_far_takes_nothing_away() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        inquiry.similarities = vec![0.0, 0.6, -0.3];
        inquiry.similarities_together = vec![0.2, 0.4, 0.0];
        assert_eq!(added(&MeaningTerm, &inquiry), [TOGETHER / 2.0, ALONE + TOGETHER, 0.0]);
    }
}
