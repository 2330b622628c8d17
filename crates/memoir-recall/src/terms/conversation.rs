//! Scores how well the whole conversation matches the question: its words, with its date as part of its text, and its
//! most similar message.

use std::collections::HashMap;

use memoir_core::{ConversationId, Timestamp};

use super::{Evidence, Term, scale};

const WORDS: f64 = 0.27;
const MEANING: f64 = 0.65;

/// BM25 contribution of one occurrence of a word in a conversation of average length.
const ONE_OCCURRENCE: f64 = 1.0;

pub(super) struct ConversationTerm;

impl Term for ConversationTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let mut totals: HashMap<ConversationId, f64> = evidence.conversations.iter().copied().collect();
        add_dates(evidence, &mut totals);
        let similarities = best_similarities(evidence);
        let (word_scale, scale) = (scale(totals.values().copied()), scale(similarities.values().copied()));
        let of = |values: &HashMap<ConversationId, f64>, id| values.get(id).copied().unwrap_or(0.0);
        for (score, outline) in scores.iter_mut().zip(evidence.outlines) {
            *score += WORDS * word_scale * of(&totals, &outline.conversation_id)
                + MEANING * scale * of(&similarities, &outline.conversation_id);
        }
    }
}

/// Returns the highest similarity of a message in each conversation.
fn best_similarities(evidence: &Evidence<'_>) -> HashMap<ConversationId, f64> {
    let mut best: HashMap<ConversationId, f64> = HashMap::new();
    for (outline, similarity) in evidence.outlines.iter().zip(evidence.similarities) {
        let entry = best.entry(outline.conversation_id).or_default();
        *entry = entry.max(*similarity);
    }
    best
}

/// Adds matches with the start date: a conversation that started on 8 May 2023 contains "may", "2023" and "8".
fn add_dates(evidence: &Evidence<'_>, totals: &mut HashMap<ConversationId, f64>) {
    let mut start_times: HashMap<ConversationId, Timestamp> = HashMap::new();
    for outline in evidence.outlines {
        start_times.entry(outline.conversation_id).or_insert(outline.created);
    }
    let dates: Vec<(ConversationId, [String; 3])> =
        start_times.iter().map(|(id, created)| (*id, created.date_words_in(evidence.zone))).collect();
    for word in &evidence.question.words {
        let matches: Vec<ConversationId> =
            dates.iter().filter(|(_, words)| words.contains(word)).map(|(id, _)| *id).collect();
        let (all, count) = (dates.len() as f64, matches.len() as f64);
        let rarity = (1.0 + (all - count + 0.5) / (count + 0.5)).ln();
        for id in matches {
            *totals.entry(id).or_default() += rarity * ONE_OCCURRENCE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::tests::{contribution, inquiry};

    #[test]
    fn all_messages_of_a_conversation_get_its_score() {
        let mut inquiry = inquiry(&[(1, None, 0, false), (1, None, 0, false), (2, None, 0, false)]);
        inquiry.conversations = vec![(ConversationId::new(1), 6.0), (ConversationId::new(2), 3.0)];
        assert_eq!(contribution(&ConversationTerm, &inquiry), [WORDS, WORDS, WORDS / 2.0]);
        inquiry.similarities = vec![0.2, 0.8, 0.4];
        let similar = contribution(&ConversationTerm, &inquiry);
        assert_eq!(similar, [WORDS + MEANING, WORDS + MEANING, (WORDS + MEANING) / 2.0]);
    }

    #[test]
    fn the_date_of_a_conversation_counts_as_text() {
        // 8 May 2023 and 1 January 1970.
        let mut inquiry = inquiry(&[(1, None, 1_683_504_000_000, false), (2, None, 0, false)]);
        inquiry.question.words = vec!["may".into(), "cake".into()];
        let scores = contribution(&ConversationTerm, &inquiry);
        assert!((scores[0] - WORDS).abs() < 1e-9 && scores[1].abs() < 1e-9, "{scores:?}");
    }
}
