//! Lowers the score of messages that ask a question, because they contain less information.

use super::{Evidence, Term};

const QUESTION_PENALTY: f64 = -0.36;

pub(super) struct AnswersTerm;

impl Term for AnswersTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            if outline.is_question {
                *score += QUESTION_PENALTY;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{contribution, inquiry};

    #[test]
    fn questions_score_lower() {
        let inquiry = inquiry(&[(1, None, 0, true), (1, None, 0, false)]);
        assert_eq!(contribution(&AnswersTerm, &inquiry), [QUESTION_PENALTY, 0.0]);
    }
}
