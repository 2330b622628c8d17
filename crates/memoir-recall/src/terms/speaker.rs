//! Whether the one person that the question names said it; the more so in answer to a question.

use super::{Evidence, Term};

const WEIGHT: f64 = 0.35;
const ANSWERS: f64 = 0.2;

pub(super) struct SpeakerTerm;

impl Term for SpeakerTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let Some(speaker) = &evidence.question.speaker else { return };
        for (position, score) in scores.iter_mut().enumerate() {
            if evidence.outlines[position].author.as_ref() == Some(speaker) {
                let asked =
                    evidence.neighbour(position, -1).is_some_and(|before| evidence.outlines[before].asks);
                *score += WEIGHT + if asked { ANSWERS } else { 0.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{added, inquiry};

    #[test]
    fn only_the_one_who_is_named_counts() {
        let mut inquiry = inquiry(&[
            (1, Some("Mel"), 0, false),
            (1, Some("Caro"), 0, true),
            (1, Some("Mel"), 0, false),
            (1, None, 0, false),
        ]);
        assert_eq!(added(&SpeakerTerm, &inquiry), [0.0; 4], "no one is named");
        inquiry.question.speaker = Some("Mel".into());
        assert_eq!(added(&SpeakerTerm, &inquiry), [WEIGHT, 0.0, WEIGHT + ANSWERS, 0.0]);
    }
}
