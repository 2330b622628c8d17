//! Scores the similarity of the exchange's and the conversation's summaries.

use std::collections::HashMap;

use memoir_core::SubjectKind;

use super::{Evidence, Term, scale};

const EXCHANGE_WEIGHT: f64 = 0.015;
const CONVERSATION_WEIGHT: f64 = 0.045;

pub(super) struct SummaryTerm;

impl Term for SummaryTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let scale = scale(evidence.summaries.iter().map(|summary| summary.score));
        let similarities: HashMap<(SubjectKind, i64), f64> = evidence
            .summaries
            .iter()
            .map(|summary| ((summary.subject.kind, summary.subject.id), summary.score.max(0.0) * scale))
            .collect();
        let similarity = |kind, id| similarities.get(&(kind, id)).copied().unwrap_or(0.0);
        let mut rest = scores;
        for messages in evidence.outlines.chunk_by(|a, b| a.exchange_id == b.exchange_id) {
            let (own, others) = rest.split_at_mut(messages.len());
            let score = EXCHANGE_WEIGHT * similarity(SubjectKind::Exchange, messages[0].exchange_id.get())
                + CONVERSATION_WEIGHT
                    * similarity(SubjectKind::Conversation, messages[0].conversation_id.get());
            own.iter_mut().for_each(|message| *message += score);
            rest = others;
        }
    }
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, Subject};
    use memoir_store::SummaryMatch;

    use super::*;
    use crate::terms::tests::{contribution, inquiry};

    #[test]
    fn messages_get_the_scores_of_their_exchange_and_conversation_summaries() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        let summary = |kind, id, score| SummaryMatch {
            subject: Subject::new(kind, id),
            conversation_id: ConversationId::new(1),
            score,
        };
        inquiry.summaries =
            vec![summary(SubjectKind::Exchange, 2, 0.8), summary(SubjectKind::Conversation, 1, 0.4)];
        let half = CONVERSATION_WEIGHT / 2.0;
        assert_eq!(contribution(&SummaryTerm, &inquiry), [half, EXCHANGE_WEIGHT + half, 0.0]);
    }
}
