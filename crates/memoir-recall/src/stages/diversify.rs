//! Variety: what says the same as something better gives way, and no conversation takes all the room.
//!
//! This is maximal marginal relevance: of what is left, the next is always the one whose relevance, less its likeness
//! to what was taken before, is highest.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use memoir_core::ConversationId;

use super::refine::cosine;
use crate::{Inquiry, RankedMessage, Recall, RecallError, RecallSettings, Stage};

/// How many are considered. One conversation may hold a thousand that are nearly the same, so that the best few of each
/// are taken first.
const CONSIDERED: usize = 60;

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
    let mut left: Vec<RankedMessage> = std::mem::take(&mut inquiry.ranked)
        .into_iter()
        .filter(|found| exchanges.insert(found.outline.exchange_id))
        .filter(|found| {
            let count = conversations.entry(found.outline.conversation_id).or_default();
            *count += 1;
            *count <= settings.exchanges_per_conversation
        })
        .take(CONSIDERED.max(settings.exchange_capacity))
        .collect();
    let highest = left.iter().map(|found| found.score).fold(f64::MIN_POSITIVE, f64::max);
    let mut taken: Vec<RankedMessage> = Vec::new();
    while taken.len() < settings.exchange_capacity && !left.is_empty() {
        let worth = |found: &RankedMessage| {
            let like = taken.iter().map(|other| likeness(inquiry, found, other)).fold(0.0, f64::max);
            settings.relevance * found.score / highest - (1.0 - settings.relevance) * like
        };
        let best =
            (0..left.len()).max_by(|a, b| worth(&left[*a]).total_cmp(&worth(&left[*b])).then(b.cmp(a)));
        let Some(best) = best else { break };
        taken.push(left.remove(best));
    }
    inquiry.ranked = taken;
}

/// How alike two messages are in meaning; unknown counts as not at all.
fn likeness(inquiry: &Inquiry, a: &RankedMessage, b: &RankedMessage) -> f64 {
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

    fn chosen(inquiry: &mut Inquiry, settings: &RecallSettings) -> Vec<i64> {
        let scores = [3.0, 2.9, 2.0, 1.0];
        inquiry.lexical = vec![0.0; inquiry.outlines.len()];
        fuse::rank(inquiry, &[]);
        inquiry.ranked.sort_by_key(|found| found.outline.id);
        inquiry.ranked.iter_mut().zip(scores).for_each(|(found, score)| found.score = score);
        diversify(inquiry, settings);
        inquiry.ranked.iter().map(|found| found.outline.id.get()).collect()
    }

    #[test]
    fn what_says_the_same_gives_way() {
        let mut inquiry =
            inquiry(&[(1, None, 0, false), (2, None, 0, false), (3, None, 0, false), (4, None, 0, false)]);
        let vectors = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
        inquiry.vectors = (1..).map(MessageId::new).zip(vectors.map(|vector| vector.to_vec())).collect();
        let settings = RecallSettings { exchange_capacity: 2, ..RecallSettings::default() };
        assert_eq!(chosen(&mut inquiry.clone(), &settings), [1, 3]);
        let relevance_alone = RecallSettings { relevance: 1.0, ..settings };
        assert_eq!(chosen(&mut inquiry, &relevance_alone), [1, 2]);
    }

    #[test]
    fn no_conversation_takes_all_the_room() {
        let mut inquiry =
            inquiry(&[(1, None, 0, false), (1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        let settings = RecallSettings { exchanges_per_conversation: 2, ..RecallSettings::default() };
        assert_eq!(chosen(&mut inquiry, &settings), [1, 2, 4]);
    }
}
