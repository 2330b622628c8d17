//! Scores similarity in meaning: of the message alone, combined with the previous one, which it often answers, and of
//! the next one.

use super::{Evidence, Term, scale};

const ALONE: f64 = 0.5;
/// Weight of the squared similarity, which separates the best messages from the many that are merely related.
const SQUARED: f64 = 0.7;
const WITH_PREVIOUS: f64 = 0.8;
const NEXT: f64 = 0.14;

pub(super) struct MeaningTerm;

impl Term for MeaningTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let alone = normalize(evidence.similarities);
        let with_previous = normalize(evidence.pair_similarities);
        for (position, score) in scores.iter_mut().enumerate() {
            let next = evidence.neighbor(position, 1).map_or(0.0, |next| alone[next]);
            *score += ALONE * alone[position]
                + SQUARED * alone[position] * alone[position]
                + WITH_PREVIOUS * with_previous[position]
                + NEXT * next;
        }
    }
}

/// Scales similarities to a maximum of one. Negative ones become zero.
fn normalize(similarities: &[f64]) -> Vec<f64> {
    let scale = scale(similarities.iter().copied());
    similarities.iter().map(|similarity| similarity.max(0.0) * scale).collect()
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
        assert_eq!(
            contribution(&MeaningTerm, &inquiry),
            [WITH_PREVIOUS / 2.0 + NEXT, ALONE + SQUARED + WITH_PREVIOUS, 0.0]
        );
    }
}
