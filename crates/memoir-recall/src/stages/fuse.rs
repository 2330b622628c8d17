//! Scores every message and sorts them, best first.

use async_trait::async_trait;
use memoir_store::MessageOutline;

use crate::{
    Inquiry, RankedMessage, Recall, RecallError, Stage,
    terms::{Evidence, TermName, terms},
};

/// Maximum number of messages to keep. One conversation may have a thousand similar ones.
const MAX_MESSAGES: usize = 3000;

pub(crate) struct FuseStage;

#[async_trait]
impl Stage for FuseStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        rank(inquiry, &recall.settings.terms);
        Ok(())
    }
}

/// Scores and sorts every message that passes the filter.
pub(super) fn rank(inquiry: &mut Inquiry, names: &[TermName]) {
    let evidence = Evidence::from_inquiry(inquiry);
    let mut scores = vec![0.0; inquiry.outlines.len()];
    terms(names).for_each(|term| term.add(&evidence, &mut scores));
    // Messages outside the filter contribute to the scores of their neighbors but are not results themselves.
    let mut order: Vec<usize> =
        (0..scores.len()).filter(|position| is_allowed(inquiry, &inquiry.outlines[*position])).collect();
    // Newer messages win ties, by time and then by position in the conversation.
    let age = |position: usize| (inquiry.outlines[position].created, position);
    let better = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(age(*b).cmp(&age(*a)));
    if order.len() > MAX_MESSAGES {
        order.select_nth_unstable_by(MAX_MESSAGES - 1, better);
        order.truncate(MAX_MESSAGES);
    }
    order.sort_unstable_by(better);
    inquiry.ranked = order
        .into_iter()
        .map(|position| RankedMessage {
            outline: inquiry.outlines[position].clone(),
            score: scores[position],
            similarity: inquiry.similarities[position],
            coverage: evidence.coverage(position),
            superseded: None,
        })
        .collect();
}

/// Checks time and commit order; the rest of the filter was applied to the conversations.
fn is_allowed(inquiry: &Inquiry, outline: &MessageOutline) -> bool {
    let filter = &inquiry.filter;
    filter.since.is_none_or(|since| outline.created >= since)
        && filter.until.is_none_or(|until| outline.created < until)
        && inquiry.early_exchanges.as_ref().is_none_or(|early| early.contains(&outline.exchange_id))
}

#[cfg(test)]
mod tests {
    use memoir_core::Timestamp;

    use super::*;
    use crate::terms::tests::{inquiry, message_match};

    #[test]
    fn words_and_meaning_add_up_and_newer_messages_win_ties() {
        let mut inquiry =
            inquiry(&[(1, None, 0, false), (2, None, 0, false), (3, None, 0, false), (4, None, 0, false)]);
        inquiry.word_matches = vec![vec![message_match(2, 2, 1.0), message_match(3, 3, 1.0)]];
        inquiry.similarities = vec![0.0, 0.0, 0.6, 0.0];
        inquiry.lexical_scores = vec![0.0, 1.0, 1.0, 0.0];
        rank(&mut inquiry, &TermName::ALL);
        let order: Vec<i64> = inquiry.ranked.iter().map(|ranked| ranked.outline.id.get()).collect();
        assert_eq!(order, [3, 2, 4, 1]);
        assert!((inquiry.ranked[0].coverage - 1.0).abs() < 1e-9);
    }

    #[test]
    fn neighbors_outside_the_filter_are_not_results() {
        let mut inquiry = inquiry(&[(1, None, 5, false), (1, None, 50, false)]);
        inquiry.word_matches = vec![vec![message_match(2, 1, 1.0)]];
        inquiry.lexical_scores = vec![0.3, 1.0];
        inquiry.filter.since = Some(Timestamp::from_millis(10));
        rank(&mut inquiry, &TermName::ALL);
        assert_eq!(inquiry.ranked.len(), 1);
    }
}
