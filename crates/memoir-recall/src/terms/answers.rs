//! Scores messages that answer a similar question higher, and questions lower.

use memoir_store::MessageOutline;

use super::{Evidence, Term};

/// Weight of the similarity of the question before an answer.
const ANSWER: f64 = 0.28;

const QUESTION_PENALTY: f64 = -0.13;

/// Number of messages before an answer among which its question is searched for.
const MAX_DISTANCE: usize = 10;

pub(super) struct AnswersTerm;

impl Term for AnswersTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let similarities = evidence.scaled_similarities();
        for (position, score) in scores.iter_mut().enumerate() {
            let questions = previous_turn(evidence.outlines, position)
                .filter(|previous| evidence.outlines[*previous].is_question)
                .map(|question| similarities[question]);
            *score += ANSWER * questions.fold(0.0, f64::max);
            if evidence.outlines[position].is_question {
                *score += QUESTION_PENALTY;
            }
        }
    }
}

/// Returns the positions of what the other person said last. In a chat, both may send several messages in a row.
fn previous_turn(outlines: &[MessageOutline], position: usize) -> impl Iterator<Item = usize> {
    let message = &outlines[position];
    let is_own = move |other: &usize| {
        (outlines[*other].role, &outlines[*other].author) == (message.role, &message.author)
    };
    (0..position)
        .rev()
        .take(MAX_DISTANCE)
        .take_while(move |other| outlines[*other].conversation_id == message.conversation_id)
        .skip_while(is_own)
        .take_while(move |other| !is_own(other))
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
