//! Scores messages by the author named in the question higher, especially if they answer a question.

use super::{Evidence, Term};

const WEIGHT: f64 = 0.5;
const ANSWER_BONUS: f64 = 0.26;

pub(super) struct SpeakerTerm;

impl Term for SpeakerTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let Some(speaker) = &evidence.question.speaker else { return };
        for (position, score) in scores.iter_mut().enumerate() {
            if evidence.outlines[position].author.as_ref() == Some(speaker) {
                let is_answer = evidence
                    .neighbor(position, -1)
                    .is_some_and(|previous| evidence.outlines[previous].is_question);
                *score += WEIGHT + if is_answer { ANSWER_BONUS } else { 0.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{contribution, inquiry};

    #[test]
    fn only_messages_by_the_named_author_score() {
        let mut inquiry = inquiry(&[
            (1, Some("Mel"), 0, false),
            (1, Some("Caro"), 0, true),
            (1, Some("Mel"), 0, false),
            (1, None, 0, false),
        ]);
        assert_eq!(contribution(&SpeakerTerm, &inquiry), [0.0; 4], "no author is named");
        inquiry.question.speaker = Some("Mel".into());
        assert_eq!(contribution(&SpeakerTerm, &inquiry), [WEIGHT, 0.0, WEIGHT + ANSWER_BONUS, 0.0]);
    }
}
