//! Selects diverse messages and limits the number per conversation.
//!
//! The method is maximal marginal relevance: repeatedly select the message with the highest relevance minus its
//! similarity to the messages selected so far.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use memoir_core::ConversationId;

use super::refine::cosine;
use crate::{Inquiry, RankedMessage, Recall, RecallError, RecallSettings, Stage};

/// Number of candidates, after limiting each conversation.
const CANDIDATES: usize = 60;

pub(crate) struct DiversifyStage;

#[async_trait]
impl Stage for DiversifyStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        diversify(inquiry, &recall.settings);
        Ok(())
    }
}

fn diversify(inquiry: &mut Inquiry, settings: &RecallSettings) {
    let mut exchanges = HashSet::new();
    let mut conversations: HashMap<ConversationId, usize> = HashMap::new();
    let mut candidates: Vec<RankedMessage> = std::mem::take(&mut inquiry.ranked)
        .into_iter()
        .filter(|message| exchanges.insert(message.outline.exchange_id))
        .filter(|message| {
            let count = conversations.entry(message.outline.conversation_id).or_default();
            *count += 1;
            *count <= settings.exchanges_per_conversation
        })
        .take(CANDIDATES.max(settings.exchange_capacity))
        .collect();
    let highest = candidates.iter().map(|message| message.score).fold(f64::MIN_POSITIVE, f64::max);
    let mut selected: Vec<RankedMessage> = Vec::new();
    while selected.len() < settings.exchange_capacity && !candidates.is_empty() {
        let value = |message: &RankedMessage| {
            let similarity =
                selected.iter().map(|other| similarity(inquiry, message, other)).fold(0.0, f64::max);
            settings.relevance * message.score / highest - (1.0 - settings.relevance) * similarity
        };
        let best = (0..candidates.len())
            .max_by(|a, b| value(&candidates[*a]).total_cmp(&value(&candidates[*b])).then(b.cmp(a)));
        let Some(best) = best else { break };
        selected.push(candidates.remove(best));
    }
    inquiry.ranked = selected;
}

/// Returns the cosine similarity of two messages, or zero if an embedding is missing.
fn similarity(inquiry: &Inquiry, a: &RankedMessage, b: &RankedMessage) -> f64 {
    match (inquiry.vectors.get(&a.outline.id), inquiry.vectors.get(&b.outline.id)) {
        (Some(a), Some(b)) => cosine(a, b).max(0.0),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use memoir_core::MessageId;

    use super::*;
    use crate::{stages::fuse, terms::tests::inquiry};

    fn select(inquiry: &mut Inquiry, settings: &RecallSettings) -> Vec<i64> {
        let scores = [3.0, 2.9, 2.0, 1.0];
        inquiry.lexical_scores = vec![0.0; inquiry.outlines.len()];
        fuse::rank(inquiry, &[]);
        inquiry.ranked.sort_by_key(|message| message.outline.id);
        inquiry.ranked.iter_mut().zip(scores).for_each(|(message, score)| message.score = score);
        diversify(inquiry, settings);
        inquiry.ranked.iter().map(|message| message.outline.id.get()).collect()
    }

    #[test]
    fn similar_messages_are_skipped() {
        let mut inquiry =
            inquiry(&[(1, None, 0, false), (2, None, 0, false), (3, None, 0, false), (4, None, 0, false)]);
        let vectors = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
        inquiry.vectors = (1..).map(MessageId::new).zip(vectors.map(|vector| vector.to_vec())).collect();
        let settings = RecallSettings { exchange_capacity: 2, ..RecallSettings::default() };
        assert_eq!(select(&mut inquiry.clone(), &settings), [1, 3]);
        let relevance_only = RecallSettings { relevance: 1.0, ..settings };
        assert_eq!(select(&mut inquiry, &relevance_only), [1, 2]);
    }

    #[test]
    fn the_number_of_messages_per_conversation_is_limited() {
        let mut inquiry =
            inquiry(&[(1, None, 0, false), (1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        let settings = RecallSettings { exchanges_per_conversation: 2, ..RecallSettings::default() };
        assert_eq!(select(&mut inquiry, &settings), [1, 2, 4]);
    }
}
