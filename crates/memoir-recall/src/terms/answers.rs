//! A message that asks something itself tells less.

use super::{Evidence, Term};

const ASKS: f64 = -0.3;

pub(super) struct AnswersTerm;

impl Term for AnswersTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            if outline.asks {
                *score += ASKS;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{added, inquiry};

    #[test]
    fn what_asks_counts_less() {
        assert_eq!(added(&AnswersTerm, &inquiry(&[(1, None, 0, true), (1, None, 0, false)])), [ASKS, 0.0]);
    }
}
