//! The score of a message: a sum of soft terms.
//!
//! The weights were found on talk between people and carried over to other talk; `docs/recall.md` tells what
//! each adds. Neighbours count within one conversation.

use std::collections::HashMap;

use memoir_core::{ConversationId, MessageId};
use memoir_store::{Match, MessageOutline};

use crate::{
    dates::{DateRange, Precision},
    question::Question,
};

/// What a word counts that stands in one of the messages before, or after.
const BEFORE: [f64; 4] = [0.6, 0.4, 0.3, 0.2];
const AFTER: [f64; 4] = [0.4, 0.3, 0.2, 0.1];

const CONVERSATION: f64 = 0.4;
const MEANING: f64 = 1.0;
const MEANING_BEFORE: f64 = 0.1;
const MEANING_AFTER: f64 = 0.2;
const SPEAKER: f64 = 0.35;
const DATE: f64 = 0.6;
const ASKS: f64 = -0.2;
const ANSWERS: f64 = 0.2;
const LENGTH: f64 = 0.12;

/// BM25's constants for whole conversations.
const K1: f64 = 0.9;
const B: f64 = 0.4;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// What is known for scoring.
pub(crate) struct Evidence<'a> {
    pub(crate) question: &'a Question,
    /// How well messages match each word.
    pub(crate) words: Vec<Vec<Match>>,
    /// How near messages are in meaning.
    pub(crate) meaning: Vec<Match>,
    /// The messages of all conversations in question, in order.
    pub(crate) outlines: &'a [MessageOutline],
    pub(crate) conversations: u64,
}

/// A message with its score, and two measures that hold across questions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) position: usize,
    pub(crate) score: f64,
    /// How near it is in meaning: a cosine.
    pub(crate) similarity: f64,
    /// How much of the question's words it has, itself or beside it.
    pub(crate) coverage: f64,
}

/// Every message with its score, best first.
pub(crate) fn score(evidence: &Evidence<'_>) -> Vec<Scored> {
    let index: HashMap<MessageId, usize> =
        evidence.outlines.iter().enumerate().map(|(index, outline)| (outline.id, index)).collect();
    let lexical = lexical(evidence, &index);
    let whole = whole_question(&evidence.words);
    let coverage: Vec<f64> = lexical.iter().map(|value| (value / whole).min(1.0)).collect();
    let lexical = scaled(lexical);
    let conversations = conversations(evidence);
    let similarity = at_positions(&evidence.meaning, &index, evidence.outlines.len());
    let meaning = scaled(similarity.clone());
    let neighbour = |index: usize, step: isize| -> Option<usize> {
        let other = index.checked_add_signed(step)?;
        let same = evidence.outlines.get(other)?.conversation_id == evidence.outlines[index].conversation_id;
        same.then_some(other)
    };
    let mut scores: Vec<Scored> = evidence
        .outlines
        .iter()
        .enumerate()
        .map(|(index, outline)| {
            let (before, after) = (neighbour(index, -1), neighbour(index, 1));
            let beside = |other: Option<usize>| other.map_or(0.0, |other| meaning[other]);
            let spoke =
                f64::from(evidence.question.speaker.is_some() && evidence.question.speaker == outline.author);
            let answers = before.is_some_and(|before| evidence.outlines[before].asks);
            let date =
                evidence.question.dates.map_or(0.0, |dates| nearness(dates, outline.created.as_millis()));
            let words = f64::from(outline.words);
            let score = lexical[index]
                + CONVERSATION * conversations.get(&outline.conversation_id).copied().unwrap_or(0.0)
                + MEANING * meaning[index]
                + MEANING_BEFORE * beside(before)
                + MEANING_AFTER * beside(after)
                + SPEAKER * spoke
                + DATE * date
                + ASKS * f64::from(outline.asks)
                + ANSWERS * f64::from(answers) * spoke
                + LENGTH * words.ln_1p().min(41.0_f64.ln());
            Scored { position: index, score, similarity: similarity[index], coverage: coverage[index] }
        })
        .collect();
    scores.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.position.cmp(&a.position)));
    scores
}

/// What a message would get that had every word as well as any has it. A word that occurs nowhere counts like the
/// others: a question about something unheard of is covered by nothing.
fn whole_question(words: &[Vec<Match>]) -> f64 {
    let best: Vec<f64> =
        words.iter().map(|matches| matches.iter().map(|found| found.score).fold(0.0, f64::max)).collect();
    let known: Vec<f64> = best.iter().copied().filter(|score| *score > 0.0).collect();
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    best.iter().map(|score| if *score > 0.0 { *score } else { mean }).sum::<f64>().max(f64::MIN_POSITIVE)
}

/// For each word its best match in the message or, discounted, in a neighbour; then the sum over words.
fn lexical(evidence: &Evidence<'_>, index: &HashMap<MessageId, usize>) -> Vec<f64> {
    let mut sums = vec![0.0; evidence.outlines.len()];
    for matches in &evidence.words {
        let mut best: HashMap<usize, f64> = HashMap::new();
        for found in matches {
            let Some(position) = index.get(&found.message_id).copied() else { continue };
            let mut offer = |position: usize, score: f64| {
                let known = best.entry(position).or_insert(0.0);
                *known = known.max(score);
            };
            offer(position, found.score);
            let conversation = evidence.outlines[position].conversation_id;
            let same = |other: &usize| {
                evidence.outlines.get(*other).is_some_and(|outline| outline.conversation_id == conversation)
            };
            // What stands here counts for those after it as standing before, and the other way round.
            for (step, weight) in (1..).zip(BEFORE) {
                Some(position + step)
                    .filter(same)
                    .into_iter()
                    .for_each(|other| offer(other, found.score * weight));
            }
            for (step, weight) in (1..).zip(AFTER) {
                position
                    .checked_sub(step)
                    .filter(same)
                    .into_iter()
                    .for_each(|other| offer(other, found.score * weight));
            }
        }
        for (position, score) in best {
            sums[position] += score;
        }
    }
    sums
}

/// How well whole conversations match the words, the best being 1.
fn conversations(evidence: &Evidence<'_>) -> HashMap<ConversationId, f64> {
    let mut lengths: HashMap<ConversationId, f64> = HashMap::new();
    for outline in evidence.outlines {
        *lengths.entry(outline.conversation_id).or_default() += f64::from(outline.words);
    }
    let average = (lengths.values().sum::<f64>() / lengths.len().max(1) as f64).max(1.0);
    let mut scores: HashMap<ConversationId, f64> = HashMap::new();
    for matches in &evidence.words {
        let mut counts: HashMap<ConversationId, f64> = HashMap::new();
        for found in matches {
            *counts.entry(found.conversation_id).or_default() += 1.0;
        }
        let (all, having) = (evidence.conversations as f64, counts.len() as f64);
        let rarity = (1.0 + (all - having + 0.5).max(0.5) / (having + 0.5)).ln();
        for (conversation, count) in counts {
            let length = lengths.get(&conversation).copied().unwrap_or(average) / average;
            let saturated = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
            *scores.entry(conversation).or_default() += rarity * saturated;
        }
    }
    let highest = scores.values().copied().fold(0.0, f64::max);
    if highest > 0.0 {
        scores.values_mut().for_each(|score| *score /= highest);
    }
    scores
}

fn at_positions(matches: &[Match], index: &HashMap<MessageId, usize>, length: usize) -> Vec<f64> {
    let mut values = vec![0.0; length];
    for found in matches {
        if let Some(position) = index.get(&found.message_id) {
            values[*position] = found.score.max(0.0);
        }
    }
    values
}

/// The same values with the highest being 1.
fn scaled(mut values: Vec<f64>) -> Vec<f64> {
    let highest = values.iter().copied().fold(0.0, f64::max);
    if highest > 0.0 {
        values.iter_mut().for_each(|value| *value /= highest);
    }
    values
}

/// How near a moment is to the time asked about. People tell of a day on that day, or soon after.
fn nearness(dates: DateRange, moment: i64) -> f64 {
    let (start, end) = (dates.start.as_millis(), dates.end.as_millis());
    if (start..end).contains(&moment) {
        return 1.0;
    }
    let (after, before) = (moment - end, start - moment);
    match dates.precision {
        Precision::Days if after >= 0 => {
            [0.7, 0.5, 0.3].get(usize::try_from(after / DAY).unwrap_or(9)).copied().unwrap_or(0.0)
        }
        Precision::Days => {
            [0.4, 0.2].get(usize::try_from((before - 1).max(0) / DAY).unwrap_or(9)).copied().unwrap_or(0.0)
        }
        Precision::Months if after >= 0 => {
            if after < 31 * DAY {
                0.2
            } else {
                0.0
            }
        }
        Precision::Months => {
            if before < 31 * DAY {
                0.1
            } else {
                0.0
            }
        }
    }
}
