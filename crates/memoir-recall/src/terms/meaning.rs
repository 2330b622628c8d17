//! Scores similarity in meaning: of the message alone, combined with the previous one, which it often answers, and of
//! its neighbors.

use super::{Evidence, Term};

const ALONE: f64 = 0.85;
/// Weight of the similarity together with the previous message, which is not scaled.
const WITH_PREVIOUS: f64 = 1.2;
/// Weight of the previous message alone: if that is similar by itself, it is the better result.
const PREVIOUS: f64 = -0.25;
const NEXT: f64 = 0.17;

pub(super) struct MeaningTerm;

impl Term for MeaningTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let alone = evidence.scaled_similarities();
        for (position, score) in scores.iter_mut().enumerate() {
            let neighbor = |step| evidence.neighbor(position, step).map_or(0.0, |other| alone[other]);
            *score += ALONE * alone[position]
                + WITH_PREVIOUS * evidence.pair_similarities[position]
                + PREVIOUS * neighbor(-1)
                + NEXT * neighbor(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{contribution, inquiry};

    #[test]
    fn similar_messages_score_high_and_negative_similarity_counts_as_zero() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        inquiry.similarities = vec![0.3, 0.6, -0.3];
        inquiry.pair_similarities = vec![0.3, 0.5, 0.0];
        assert_eq!(
            contribution(&MeaningTerm, &inquiry),
            [ALONE / 2.0 + WITH_PREVIOUS * 0.3 + NEXT, ALONE + WITH_PREVIOUS * 0.5 + PREVIOUS / 2.0, 0.0]
        );
    }
}
