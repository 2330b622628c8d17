//! Ranks the conversations that match a keyword search, by BM25.
//!
//! The full-text index supplies the occurrences of each word. Its own ranking would take ten times as long for a common
//! word, and the in-memory index already has the data that ranking needs.

use std::collections::{HashMap, HashSet};

use memoir_core::{ConversationId, MessageId};
use memoir_store::{Match, WordSearchResult};

use super::{Index, ScopedFilter, filter::Predicate, messages::Messages};

/// BM25's constants, tuned on conversations: messages are short, so length should matter little.
const K1: f64 = 0.9;
const B: f64 = 0.4;

/// Weight of the score of a whole conversation relative to that of its best message, when conversations are selected.
const CONVERSATION_WEIGHT: f64 = 0.4;

/// A message that contains a word, and the number of occurrences.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Occurrence {
    row: u32,
    count: f64,
}

/// Returns the messages that contain a word, given a list in which each id is repeated for each occurrence.
fn occurrences(ids: &str, messages: &Messages) -> Vec<Occurrence> {
    let ids = ids.split_ascii_whitespace().filter_map(|id| id.parse().ok());
    let rows = ids.filter_map(|id| u32::try_from(messages.row(id)?).ok());
    let mut occurrences: Vec<Occurrence> = Vec::new();
    for row in rows {
        match occurrences.last_mut() {
            Some(last) if last.row == row => last.count += 1.0,
            _ => occurrences.push(Occurrence { row, count: 1.0 }),
        }
    }
    occurrences
}

impl Index {
    /// Returns the `limit` conversations that match best, plus those in `extra_conversations`, and their messages that
    /// contain each word. `words` contains, for each word, a list of message ids for [`occurrences`].
    pub(crate) fn match_words(
        &self,
        words: &[String],
        allowed: ScopedFilter<'_>,
        limit: usize,
        extra_conversations: &[ConversationId],
    ) -> WordSearchResult {
        let messages = &self.messages;
        let predicate = Predicate::new(allowed, messages);
        let words: Vec<Vec<Occurrence>> = words.iter().map(|ids| occurrences(ids, messages)).collect();
        let mut conversation_scores: HashMap<u32, f64> = HashMap::new();
        let mut message_scores: HashMap<u32, f32> = HashMap::new();
        let weights: Vec<Weight> = words.iter().map(|rows| Weight::measure(messages, rows)).collect();
        for (rows, weight) in words.iter().zip(&weights) {
            let mut counts: HashMap<u32, f64> = HashMap::new();
            for occurrence in rows.iter().filter(|occurrence| predicate.allows(occurrence.row as usize)) {
                *counts.entry(messages.conversations[occurrence.row as usize]).or_default() +=
                    occurrence.count;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "scores do not need the precision of f64"
                )]
                let score = weight.score(messages, *occurrence) as f32;
                *message_scores.entry(occurrence.row).or_default() += score;
            }
            let total = messages.conversation_ids.len() as f64;
            let rarity = rarity(total, counts.len() as f64);
            let average = messages.total_words as f64 / total.max(1.0);
            for (conversation, count) in counts {
                let length = f64::from(messages.lengths[conversation as usize]) / average.max(1.0);
                *conversation_scores.entry(conversation).or_default() += rarity * saturate(count, length);
            }
        }
        let selection =
            select_conversations(messages, &conversation_scores, &message_scores, limit, extra_conversations);
        let selected: HashSet<u32> = selection.iter().copied().collect();
        let matches = |(rows, weight): (&Vec<Occurrence>, &Weight)| {
            let rows = rows.iter().filter(|occurrence| {
                selected.contains(&messages.conversations[occurrence.row as usize])
                    && predicate.allows(occurrence.row as usize)
            });
            rows.map(|occurrence| Match {
                message_id: MessageId::new(messages.ids[occurrence.row as usize]),
                conversation_id: messages.conversation_id(messages.conversations[occurrence.row as usize]),
                score: weight.score(messages, *occurrence),
            })
            .collect()
        };
        let score = |number: &u32| conversation_scores.get(number).copied().unwrap_or(0.0);
        WordSearchResult {
            conversations: selection
                .iter()
                .map(|number| (messages.conversation_id(*number), score(number)))
                .collect(),
            words: words.iter().zip(&weights).map(matches).collect(),
        }
    }
}

/// Returns the numbers of the `limit` conversations with the best combination of their own score and that of their best
/// message, followed by those in `extra_conversations`.
fn select_conversations(
    messages: &Messages,
    conversation_scores: &HashMap<u32, f64>,
    message_scores: &HashMap<u32, f32>,
    limit: usize,
    extra_conversations: &[ConversationId],
) -> Vec<u32> {
    let mut best_messages: HashMap<u32, f32> = HashMap::new();
    for (row, score) in message_scores {
        let best = best_messages.entry(messages.conversations[*row as usize]).or_default();
        *best = best.max(*score);
    }
    let top_conversation = conversation_scores.values().copied().fold(f64::MIN_POSITIVE, f64::max);
    let top_message = f64::from(best_messages.values().copied().fold(f32::MIN_POSITIVE, f32::max));
    let mut ranking: Vec<(f64, u32)> = best_messages
        .iter()
        .map(|(number, score)| {
            let conversation = conversation_scores.get(number).copied().unwrap_or(0.0) / top_conversation;
            (f64::from(*score) / top_message + CONVERSATION_WEIGHT * conversation, *number)
        })
        .collect();
    ranking.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let mut selection: Vec<u32> = ranking.into_iter().take(limit).map(|(_, number)| number).collect();
    let selected: HashSet<u32> = selection.iter().copied().collect();
    selection.extend(
        extra_conversations
            .iter()
            .filter_map(|id| messages.conversation(*id))
            .filter(|number| !selected.contains(number)),
    );
    selection
}

/// The weight of a word, which is higher the fewer messages contain it.
struct Weight {
    rarity: f64,
    /// Average number of words in a message.
    average: f64,
}

impl Weight {
    fn measure(messages: &Messages, rows: &[Occurrence]) -> Self {
        let total = messages.len() as f64;
        Self {
            rarity: rarity(total, rows.len() as f64),
            average: (messages.total_words as f64 / total.max(1.0)).max(1.0),
        }
    }

    fn score(&self, messages: &Messages, occurrence: Occurrence) -> f64 {
        let length = f64::from(messages.words[occurrence.row as usize]) / self.average;
        self.rarity * saturate(occurrence.count, length)
    }
}

/// Returns BM25's inverse document frequency, where `matching` of `total` documents contain the word.
fn rarity(total: f64, matching: f64) -> f64 {
    (1.0 + (total - matching + 0.5).max(0.5) / (matching + 0.5)).ln()
}

/// Returns BM25's term frequency factor. `length` is relative to the average.
fn saturate(count: f64, length: f64) -> f64 {
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
}
