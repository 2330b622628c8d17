//! Scores similarity in meaning, both of the message alone and combined with the previous one, which it often answers.

use super::{Evidence, Term, scale};

const ALONE: f64 = 0.5;
const WITH_PREVIOUS: f64 = 0.7;

pub(super) struct MeaningTerm;

impl Term for MeaningTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        for (weight, similarities) in
            [(ALONE, evidence.similarities), (WITH_PREVIOUS, evidence.pair_similarities)]
        {
            let scale = scale(similarities.iter().copied());
            for (score, similarity) in scores.iter_mut().zip(similarities) {
                *score += weight * similarity.max(0.0) * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{contribution, inquiry};

    #[test]
    fn the_most_similar_message_scores_highest_and_negative_similarity_counts_as_zero() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        inquiry.similarities = vec![0.0, 0.6, -0.3];
        inquiry.pair_similarities = vec![0.2, 0.4, 0.0];
        assert_eq!(contribution(&MeaningTerm, &inquiry), [WITH_PREVIOUS / 2.0, ALONE + WITH_PREVIOUS, 0.0]);
    }
}
