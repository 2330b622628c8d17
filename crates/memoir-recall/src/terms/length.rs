//! A longer message says more, up to a point.

use super::{Evidence, Term};

const WEIGHT: f64 = 0.12;

/// From here on length adds nothing.
const LONG: f64 = 40.0;

pub(super) struct LengthTerm;

impl Term for LengthTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            *score += WEIGHT * f64::from(outline.words).min(LONG).ln_1p();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{added, inquiry};

    #[test]
    fn length_counts_up_to_a_point() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (1, None, 0, false)]);
        for (outline, words) in inquiry.outlines.iter_mut().zip([2, 40, 400]) {
            outline.words = words;
        }
        let added = added(&LengthTerm, &inquiry);
        assert!(added[0] < added[1] && (added[1] - added[2]).abs() < 1e-9, "{added:?}");
    }
}
