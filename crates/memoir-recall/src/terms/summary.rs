//! How near the summary of the exchange is, or that of the whole conversation.

use std::collections::HashMap;

use memoir_core::SubjectKind;

use super::{Evidence, Term, scale};

/// What the summary of an exchange counts for its messages, and what that of a conversation does.
const OF_EXCHANGE: f64 = 0.05;
const OF_CONVERSATION: f64 = 0.15;

pub(super) struct SummaryTerm;

impl Term for SummaryTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let scale = scale(evidence.summaries.iter().map(|found| found.score));
        let near: HashMap<(SubjectKind, i64), f64> = evidence
            .summaries
            .iter()
            .map(|found| ((found.subject.kind, found.subject.id), found.score.max(0.0) * scale))
            .collect();
        let nearness = |kind, id| near.get(&(kind, id)).copied().unwrap_or(0.0);
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            *score += OF_EXCHANGE * nearness(SubjectKind::Exchange, outline.exchange_id.get())
                + OF_CONVERSATION * nearness(SubjectKind::Conversation, outline.conversation_id.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, Subject};
    use memoir_store::SummaryMatch;

    use super::*;
    use crate::terms::tests::{added, inquiry};

    #[test]
    fn messages_share_in_the_summary_of_their_exchange_and_of_their_conversation() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        let found = |kind, id, score| SummaryMatch {
            subject: Subject::new(kind, id),
            conversation_id: ConversationId::new(1),
            score,
        };
        inquiry.summaries =
            vec![found(SubjectKind::Exchange, 2, 0.8), found(SubjectKind::Conversation, 1, 0.4)];
        let half = OF_CONVERSATION / 2.0;
        assert_eq!(added(&SummaryTerm, &inquiry), [half, OF_EXCHANGE + half, 0.0]);
    }
}
