//! Scores how well the whole conversation matches the question: its words, with its date as part of its text, and its
//! most similar message.

use std::collections::HashMap;

use memoir_core::ConversationId;

use super::{Evidence, Term, scale};

const WORDS: f64 = 0.27;
const MEANING: f64 = 0.65;

/// BM25 contribution of one occurrence of a word in a conversation of average length.
const ONE_OCCURRENCE: f64 = 1.0;

pub(super) struct ConversationTerm;

/// A conversation whose messages follow each other among all messages.
struct Conversation {
    /// Number of its messages.
    messages: usize,
    /// Lexical score, including its date.
    words: f64,
    /// Highest similarity of a message.
    meaning: f64,
}

impl Term for ConversationTerm {
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]) {
        let conversations = list_conversations(evidence);
        let word_scale = scale(conversations.iter().map(|conversation| conversation.words));
        let meaning_scale = scale(conversations.iter().map(|conversation| conversation.meaning));
        let mut rest = scores;
        for conversation in conversations {
            let (own, others) = rest.split_at_mut(conversation.messages);
            let score =
                WORDS * word_scale * conversation.words + MEANING * meaning_scale * conversation.meaning;
            own.iter_mut().for_each(|message| *message += score);
            rest = others;
        }
    }
}

fn list_conversations(evidence: &Evidence<'_>) -> Vec<Conversation> {
    let words: HashMap<ConversationId, f64> = evidence.conversations.iter().copied().collect();
    let mut similarities = evidence.similarities;
    let mut conversations = Vec::new();
    let mut dates = Vec::new();
    for messages in evidence.outlines.chunk_by(|a, b| a.conversation_id == b.conversation_id) {
        let (own, others) = similarities.split_at(messages.len());
        similarities = others;
        conversations.push(Conversation {
            messages: messages.len(),
            words: words.get(&messages[0].conversation_id).copied().unwrap_or(0.0),
            meaning: own.iter().copied().fold(0.0, f64::max),
        });
        dates.push(messages[0].created.date_words_in(evidence.zone));
    }
    add_dates(evidence, &dates, &mut conversations);
    conversations
}

/// Adds matches with the start dates: a conversation that started on 8 May 2023 contains "may", "2023" and "8".
fn add_dates(evidence: &Evidence<'_>, dates: &[[String; 3]], conversations: &mut [Conversation]) {
    for word in &evidence.question.words {
        let count = dates.iter().filter(|date| date.contains(word)).count() as f64;
        let rarity = (1.0 + (dates.len() as f64 - count + 0.5) / (count + 0.5)).ln();
        for (conversation, date) in conversations.iter_mut().zip(dates) {
            if date.contains(word) {
                conversation.words += rarity * ONE_OCCURRENCE;
            }
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
