//! Scores the fraction of the question's words that a message contains or, discounted, a neighbor.

use std::collections::HashMap;

use memoir_core::MessageId;
use memoir_store::{Match, MessageOutline};

use super::{Evidence, Term};

/// Weights of a match one to four messages before a message.
const BEFORE: [f64; 4] = [0.6, 0.4, 0.3, 0.2];
/// Weights of a match one to four messages after a message.
const AFTER: [f64; 4] = [0.3, 0.2, 0.1, 0.05];

const WEIGHT: f64 = 1.35;

pub(super) struct WordsTerm;

impl Term for WordsTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        for (position, score) in scores.iter_mut().enumerate() {
            *score += WEIGHT * evidence.coverage(position);
        }
    }
}

/// Returns the lexical score of each message: for every word, the best match in the message or a neighbor, summed over
/// all words. A word repeated in several messages thus counts once.
pub(crate) fn score_words(word_matches: &[Vec<Match>], outlines: &[MessageOutline]) -> Vec<f64> {
    let positions: HashMap<MessageId, usize> =
        outlines.iter().enumerate().map(|(position, outline)| (outline.id, position)).collect();
    let mut sums = vec![0.0; outlines.len()];
    let mut best = vec![0.0_f64; outlines.len()];
    for matches in word_matches {
        for word_match in matches {
            let Some(position) = positions.get(&word_match.message_id).copied() else { continue };
            let conversation = outlines[position].conversation_id;
            let mut update = |position: Option<usize>, score: f64| {
                let is_same_conversation = |position: &usize| {
                    outlines.get(*position).is_some_and(|outline| outline.conversation_id == conversation)
                };
                if let Some(position) = position.filter(is_same_conversation) {
                    best[position] = best[position].max(score);
                }
            };
            update(Some(position), word_match.score);
            // For the following messages this match is before them, for the preceding ones after them.
            for (step, weight) in (1..).zip(BEFORE) {
                update(Some(position + step), word_match.score * weight);
            }
            for (step, weight) in (1..).zip(AFTER) {
                update(position.checked_sub(step), word_match.score * weight);
            }
        }
        for (sum, best) in sums.iter_mut().zip(&mut best) {
            *sum += std::mem::take(best);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{contribution, inquiry, message_match};

    #[test]
    fn neighbors_score_less_and_only_within_their_conversation() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        inquiry.word_matches = vec![vec![message_match(2, 1, 4.0)]];
        assert_eq!(contribution(&WordsTerm, &inquiry), [WEIGHT * AFTER[0], WEIGHT, 0.0]);
    }

    #[test]
    fn a_word_repeated_in_neighbors_counts_once() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (1, None, 0, false)]);
        inquiry.word_matches = vec![
            vec![message_match(1, 1, 1.0), message_match(2, 1, 1.0), message_match(3, 1, 1.0)],
            vec![message_match(1, 1, 1.0)],
        ];
        assert_eq!(contribution(&WordsTerm, &inquiry), [WEIGHT, 0.8 * WEIGHT, 0.7 * WEIGHT]);
    }
}
