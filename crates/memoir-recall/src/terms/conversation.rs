//! How well the whole conversation matches the words, those of its date among them.

use std::collections::HashMap;

use memoir_core::{ConversationId, Timestamp};

use super::{Evidence, Term, scale};

const WEIGHT: f64 = 0.4;

/// What one occurrence of a word counts in a conversation of ordinary length, as BM25 has it.
const ONE_OCCURRENCE: f64 = 1.0;

pub(super) struct ConversationTerm;

impl Term for ConversationTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let mut whole: HashMap<ConversationId, f64> = evidence.conversations.iter().copied().collect();
        add_dates(evidence, &mut whole);
        let scale = scale(whole.values().copied());
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            *score += WEIGHT * scale * whole.get(&outline.conversation_id).copied().unwrap_or(0.0);
        }
    }
}

/// "May", "2023" and "8" are words of a conversation that began on 8 May 2023.
fn add_dates(evidence: &Evidence<'_>, whole: &mut HashMap<ConversationId, f64>) {
    let mut began: HashMap<ConversationId, Timestamp> = HashMap::new();
    for outline in evidence.outlines {
        began.entry(outline.conversation_id).or_insert(outline.created);
    }
    let dates: Vec<(ConversationId, [String; 3])> =
        began.iter().map(|(id, created)| (*id, created.date_words_in(evidence.zone))).collect();
    for word in &evidence.question.words {
        let having: Vec<ConversationId> =
            dates.iter().filter(|(_, words)| words.contains(word)).map(|(id, _)| *id).collect();
        let (all, count) = (dates.len() as f64, having.len() as f64);
        let rarity = (1.0 + (all - count + 0.5) / (count + 0.5)).ln();
        for id in having {
            *whole.entry(id).or_default() += rarity * ONE_OCCURRENCE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{added, inquiry};

    #[test]
    fn all_messages_of_a_conversation_share_in_it() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        inquiry.conversations = vec![(ConversationId::new(1), 6.0), (ConversationId::new(2), 3.0)];
        assert_eq!(added(&ConversationTerm, &inquiry), [0.4, 0.4, 0.2]);
    }

    #[test]
    fn its_date_is_among_its_words() {
        // 8 May 2023, and a day of 1970.
        let mut inquiry = inquiry(&[(1, None, 1_683_504_000_000, false), (2, None, 0, false)]);
        inquiry.question.words = vec!["may".into(), "cake".into()];
        assert_eq!(added(&ConversationTerm, &inquiry), [0.4, 0.0]);
    }
}
