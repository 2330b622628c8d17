//! Scores longer messages higher, up to a limit.

use super::{Evidence, Term};

const WEIGHT: f64 = 0.19;

/// Number of words beyond which length adds nothing.
const MAX_WORDS: f64 = 40.0;

pub(super) struct LengthTerm;

impl Term for LengthTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            *score += WEIGHT * f64::from(outline.words).min(MAX_WORDS).ln_1p();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{contribution, inquiry};

    #[test]
    fn length_counts_up_to_a_limit() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (1, None, 0, false)]);
        for (outline, words) in inquiry.outlines.iter_mut().zip([2, 40, 400]) {
            outline.words = words;
        }
        let scores = contribution(&LengthTerm, &inquiry);
        assert!(scores[0] < scores[1] && (scores[1] - scores[2]).abs() < 1e-9, "{scores:?}");
    }
}
