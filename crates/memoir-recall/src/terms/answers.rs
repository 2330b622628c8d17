//! Scores messages that answer a similar question higher, and questions lower.

use super::{Evidence, Term};

/// Weight of the similarity of the question before an answer.
const ANSWER: f64 = 0.28;

const QUESTION_PENALTY: f64 = -0.13;

pub(super) struct AnswersTerm;

impl Term for AnswersTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let similarities = evidence.scaled_similarities();
        // The most similar question of the current turn and of the one before. In a chat, a turn may have several
        // messages.
        let (mut asked, mut asked_before) = (0.0_f64, 0.0);
        for (position, outline) in evidence.outlines.iter().enumerate() {
            match evidence.neighbor(position, -1).map(|previous| &evidence.outlines[previous]) {
                Some(previous) if (previous.role, &previous.author) == (outline.role, &outline.author) => {}
                Some(_) => asked_before = std::mem::take(&mut asked),
                None => (asked, asked_before) = (0.0, 0.0),
            }
            scores[position] += ANSWER * asked_before;
            if outline.is_question {
                scores[position] += QUESTION_PENALTY;
                asked = asked.max(similarities[position]);
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

    #[test]
    fn what_is_said_after_the_question_of_another_person_scores_higher() {
        let (mel, caro) = (Some("Mel"), Some("Caro"));
        let mut inquiry = inquiry(&[
            (1, mel, 0, true),
            (1, mel, 0, false),
            (1, caro, 0, false),
            (1, caro, 0, false),
            (1, mel, 0, false),
            (2, caro, 0, false),
        ]);
        inquiry.similarities = vec![0.4, 0.8, 0.0, 0.0, 0.0, 0.0];
        let half = ANSWER / 2.0;
        assert_eq!(contribution(&AnswersTerm, &inquiry), [QUESTION_PENALTY, 0.0, half, half, 0.0, 0.0]);
    }
}
