//! Scores messages by the author named in the question higher, the more so the less similar the best message is: a
//! question that names the wrong person is often very similar to what the other one said.

use super::{Evidence, Term};

const WEIGHT: f64 = 0.99;
/// Subtracted from the weight for a similarity of one.
const CERTAINTY: f64 = 0.9;

pub(super) struct SpeakerTerm;

impl Term for SpeakerTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let Some(speaker) = &evidence.question.speaker else { return };
        let highest = evidence.similarities.iter().copied().fold(0.0, f64::max);
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            if outline.author.as_ref() == Some(speaker) {
                *score += WEIGHT - CERTAINTY * highest;
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
        assert_eq!(contribution(&SpeakerTerm, &inquiry), [WEIGHT, 0.0, WEIGHT, 0.0]);
        inquiry.similarities[1] = 0.5;
        let less = WEIGHT - CERTAINTY / 2.0;
        assert_eq!(contribution(&SpeakerTerm, &inquiry), [less, 0.0, less, 0.0]);
    }
}
