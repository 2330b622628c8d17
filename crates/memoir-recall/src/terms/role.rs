//! Scores messages of the assistant lower: people ask for what they said and decided themselves, and an answer is quoted
//! together with its question anyway.

use memoir_core::Role;

use super::{Evidence, Term};

const ASSISTANT_PENALTY: f64 = -0.78;

pub(super) struct RoleTerm;

impl Term for RoleTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            // A message with an author is from a chat between people.
            if outline.role == Role::Assistant && outline.author.is_none() {
                *score += ASSISTANT_PENALTY;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{contribution, inquiry};

    #[test]
    fn the_assistant_scores_lower_but_people_do_not() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (1, Some("Mel"), 0, false)]);
        inquiry.outlines[1].role = Role::Assistant;
        inquiry.outlines[2].role = Role::Assistant;
        assert_eq!(contribution(&RoleTerm, &inquiry), [0.0, ASSISTANT_PENALTY, 0.0]);
    }
}
