//! From the messages that have a word to the conversations that match, by BM25.
//!
//! The full-text index gives the occurrences of a word; its own ranking would cost ten times as much for a word that
//! many have, and what it needs is known here.

use std::collections::{HashMap, HashSet};

use memoir_core::{ConversationId, MessageId};
use memoir_store::{Match, WordsFound};

use super::{Allowed, Index, filter::Predicate, messages::Messages};

/// BM25's constants, found on talk: messages are short, and a long one that has the word is as good.
const K1: f64 = 0.9;
const B: f64 = 0.4;

/// What a conversation's match as a whole counts beside its best message, when conversations are chosen.
const WHOLE: f64 = 0.4;

/// A message that has a word, and how often.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Occurrence {
    row: u32,
    count: f64,
}

/// The messages that have a word, from ids that stand as often as they have it.
fn occurrences(ids: &str, messages: &Messages) -> Vec<Occurrence> {
    let ids = ids.split_ascii_whitespace().filter_map(|id| id.parse().ok());
    let rows = ids.filter_map(|id| u32::try_from(messages.row(id)?).ok());
    let mut found: Vec<Occurrence> = Vec::new();
    for row in rows {
        match found.last_mut() {
            Some(last) if last.row == row => last.count += 1.0,
            _ => found.push(Occurrence { row, count: 1.0 }),
        }
    }
    found
}

impl Index {
    /// The conversations that match best, and what they have of each word. `words` holds the ids of the messages that
    /// have it, each as often as it does.
    pub(crate) fn match_words(
        &self,
        words: &[String],
        allowed: Allowed<'_>,
        most: usize,
        also: &[ConversationId],
    ) -> WordsFound {
        let messages = &self.messages;
        let predicate = Predicate::new(allowed, messages);
        let words: Vec<Vec<Occurrence>> = words.iter().map(|ids| occurrences(ids, messages)).collect();
        let mut whole: HashMap<u32, f64> = HashMap::new();
        let mut single: HashMap<u32, f32> = HashMap::new();
        let weights: Vec<Weight> = words.iter().map(|rows| Weight::measure(messages, rows)).collect();
        for (rows, weight) in words.iter().zip(&weights) {
            let mut counts: HashMap<u32, f64> = HashMap::new();
            for found in rows.iter().filter(|found| predicate.allows(found.row as usize)) {
                *counts.entry(messages.conversations[found.row as usize]).or_default() += found.count;
                #[expect(clippy::cast_possible_truncation, reason = "a score")]
                let score = weight.score(messages, *found) as f32;
                *single.entry(found.row).or_default() += score;
            }
            let all = messages.conversation_ids.len() as f64;
            let rarity = rarity(all, counts.len() as f64);
            let average = messages.all_words as f64 / all.max(1.0);
            for (conversation, count) in counts {
                let length = f64::from(messages.lengths[conversation as usize]) / average.max(1.0);
                *whole.entry(conversation).or_default() += rarity * saturated(count, length);
            }
        }
        let chosen = choose(messages, &whole, &single, most, also);
        let within: HashSet<u32> = chosen.iter().copied().collect();
        let found = |(rows, weight): (&Vec<Occurrence>, &Weight)| {
            let rows = rows.iter().filter(|found| {
                within.contains(&messages.conversations[found.row as usize])
                    && predicate.allows(found.row as usize)
            });
            rows.map(|found| Match {
                message_id: MessageId::new(messages.ids[found.row as usize]),
                conversation_id: messages.conversation_id(messages.conversations[found.row as usize]),
                score: weight.score(messages, *found),
            })
            .collect()
        };
        WordsFound {
            conversations: chosen
                .iter()
                .map(|number| (messages.conversation_id(*number), whole.get(number).copied().unwrap_or(0.0)))
                .collect(),
            words: words.iter().zip(&weights).map(found).collect(),
        }
    }
}

/// Those with the best message and the best match as a whole, and those that are wanted in any case.
fn choose(
    messages: &Messages,
    whole: &HashMap<u32, f64>,
    single: &HashMap<u32, f32>,
    most: usize,
    also: &[ConversationId],
) -> Vec<u32> {
    let mut best: HashMap<u32, f32> = HashMap::new();
    for (row, score) in single {
        let known = best.entry(messages.conversations[*row as usize]).or_default();
        *known = known.max(*score);
    }
    let highest_whole = whole.values().copied().fold(f64::MIN_POSITIVE, f64::max);
    let highest_single = f64::from(best.values().copied().fold(f32::MIN_POSITIVE, f32::max));
    let mut promising: Vec<(f64, u32)> = best
        .iter()
        .map(|(number, score)| {
            let whole = whole.get(number).copied().unwrap_or(0.0) / highest_whole;
            (f64::from(*score) / highest_single + WHOLE * whole, *number)
        })
        .collect();
    promising.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let mut chosen: Vec<u32> = promising.into_iter().take(most).map(|(_, number)| number).collect();
    let known: HashSet<u32> = chosen.iter().copied().collect();
    chosen.extend(
        also.iter().filter_map(|id| messages.conversation(*id)).filter(|number| !known.contains(number)),
    );
    chosen
}

/// How much a word counts: the more, the fewer messages have it.
struct Weight {
    rarity: f64,
    /// Words in a message, on average.
    average: f64,
}

impl Weight {
    fn measure(messages: &Messages, rows: &[Occurrence]) -> Self {
        let all = messages.len() as f64;
        Self {
            rarity: rarity(all, rows.len() as f64),
            average: (messages.all_words as f64 / all.max(1.0)).max(1.0),
        }
    }

    fn score(&self, messages: &Messages, found: Occurrence) -> f64 {
        self.rarity * saturated(found.count, f64::from(messages.words[found.row as usize]) / self.average)
    }
}

fn rarity(all: f64, having: f64) -> f64 {
    (1.0 + (all - having + 0.5).max(0.5) / (having + 0.5)).ln()
}

fn saturated(count: f64, length: f64) -> f64 {
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
}
