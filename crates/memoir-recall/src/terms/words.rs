//! The question's words: for each its best match in the message or, discounted, in a neighbour.

use std::collections::HashMap;

use memoir_core::MessageId;
use memoir_store::{Match, MessageOutline};

use super::{Evidence, Term, scale};

/// What a word counts that stands in one of the messages before, or after.
const BEFORE: [f64; 4] = [0.6, 0.4, 0.3, 0.2];
const AFTER: [f64; 4] = [0.3, 0.2, 0.1, 0.05];

pub(super) struct WordsTerm;

impl Term for WordsTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let scale = scale(evidence.lexical.iter().copied());
        scores.iter_mut().zip(evidence.lexical).for_each(|(score, lexical)| *score += lexical * scale);
    }
}

/// For each message, the sum over words of the best match in it or beside it. Taking the best, rather than adding up
/// what neighbours have, is the point: a word that is said four times in a row counts once.
pub(crate) fn best_per_word(words: &[Vec<Match>], outlines: &[MessageOutline]) -> Vec<f64> {
    let positions: HashMap<MessageId, usize> =
        outlines.iter().enumerate().map(|(position, outline)| (outline.id, position)).collect();
    let mut sums = vec![0.0; outlines.len()];
    let mut best = vec![0.0_f64; outlines.len()];
    for matches in words {
        for found in matches {
            let Some(position) = positions.get(&found.message_id).copied() else { continue };
            let conversation = outlines[position].conversation_id;
            let mut offer = |position: Option<usize>, score: f64| {
                let same = |position: &usize| {
                    outlines.get(*position).is_some_and(|outline| outline.conversation_id == conversation)
                };
                if let Some(position) = position.filter(same) {
                    best[position] = best[position].max(score);
                }
            };
            offer(Some(position), found.score);
            // What stands here counts for those after it as standing before, and the other way round.
            for (step, weight) in (1..).zip(BEFORE) {
                offer(Some(position + step), found.score * weight);
            }
            for (step, weight) in (1..).zip(AFTER) {
                offer(position.checked_sub(step), found.score * weight);
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
    use crate::terms::tests::{added, found, inquiry};

    #[test]
    fn neighbours_count_less_and_only_within_their_conversation() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        inquiry.words = vec![vec![found(2, 1, 4.0)]];
        assert_eq!(added(&WordsTerm, &inquiry), [AFTER[0], 1.0, 0.0]);
    }

    #[test]
    fn a_word_counts_once_however_often_it_is_said_around() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (1, None, 0, false)]);
        inquiry.words =
            vec![vec![found(1, 1, 1.0), found(2, 1, 1.0), found(3, 1, 1.0)], vec![found(1, 1, 1.0)]];
        assert_eq!(added(&WordsTerm, &inquiry), [1.0, 0.8, 0.7]);
    }
}
