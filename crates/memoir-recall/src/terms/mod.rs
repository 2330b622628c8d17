//! The terms of a message's score. They are soft: none of them cuts anything off.
//!
//! The weights were found on talk between people and carried over to other talk; `docs/recall.md` tells what each
//! term adds.

mod answers;
mod conversation;
mod length;
mod meaning;
mod speaker;
mod summary;
mod time;
mod words;

pub(crate) use words::best_per_word;

use std::{fmt, str::FromStr};

use memoir_core::{ConversationId, TimeZone, setting::UnknownName};
use memoir_store::{Match, MessageOutline, SummaryMatch};

use crate::{Inquiry, ParsedQuestion};

/// Something that counts in the score of a message.
pub trait Term: Send + Sync {
    /// Adds what it counts to the score of every message.
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]);
}

/// The name of a term, as used in `rag.terms`. `docs/recall.md` describes each one.
///
/// To add a term, write its file and add it here: a variant, its place in [`TermName::ALL`], its word, and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is documented in the file of its term")]
pub enum TermName {
    Words,
    Conversation,
    Meaning,
    Summary,
    Speaker,
    Time,
    Answers,
    Length,
}

impl TermName {
    /// Every term, in the order in which they are added up.
    pub const ALL: [Self; 8] = [
        Self::Words,
        Self::Conversation,
        Self::Meaning,
        Self::Summary,
        Self::Speaker,
        Self::Time,
        Self::Answers,
        Self::Length,
    ];

    /// Returns the word for it in `rag.terms`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Conversation => "conversation",
            Self::Meaning => "meaning",
            Self::Summary => "summary",
            Self::Speaker => "speaker",
            Self::Time => "time",
            Self::Answers => "answers",
            Self::Length => "length",
        }
    }

    /// Returns the term with this name.
    fn term(self) -> &'static dyn Term {
        match self {
            Self::Words => &words::WordsTerm,
            Self::Conversation => &conversation::ConversationTerm,
            Self::Meaning => &meaning::MeaningTerm,
            Self::Summary => &summary::SummaryTerm,
            Self::Speaker => &speaker::SpeakerTerm,
            Self::Time => &time::TimeTerm,
            Self::Answers => &answers::AnswersTerm,
            Self::Length => &length::LengthTerm,
        }
    }
}

impl fmt::Display for TermName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TermName {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let term = Self::ALL.into_iter().find(|term| term.as_str() == name);
        term.ok_or_else(|| UnknownName {
            kind: "term",
            name: name.to_owned(),
            known: Self::ALL.map(Self::as_str).to_vec(),
        })
    }
}

/// Returns the terms with these names, always in the order of [`TermName::ALL`]: sums of floating-point numbers depend on it.
pub(crate) fn terms(names: &[TermName]) -> impl Iterator<Item = &'static dyn Term> {
    TermName::ALL.into_iter().filter(move |name| names.contains(name)).map(TermName::term)
}

/// What is known for scoring: about the messages of all conversations in question, in order.
pub struct Evidence<'a> {
    pub(crate) question: &'a ParsedQuestion,
    pub(crate) outlines: &'a [MessageOutline],
    /// How near each message is in meaning, and how near it is taken together with the one before.
    pub(crate) similarities: &'a [f64],
    pub(crate) similarities_together: &'a [f64],
    /// The summaries that are nearest.
    pub(crate) summaries: &'a [SummaryMatch],
    pub(crate) zone: &'a TimeZone,
    pub(crate) conversations: &'a [(ConversationId, f64)],
    /// How well each message matches the words, itself or by its neighbours.
    pub(crate) lexical: &'a [f64],
    /// Upper bound of the lexical score: the sum of the best score for each query word.
    whole: f64,
}

impl<'a> Evidence<'a> {
    /// Collects what the earlier stages have found.
    pub(crate) fn from_inquiry(inquiry: &'a Inquiry) -> Self {
        Self {
            question: &inquiry.question,
            outlines: &inquiry.outlines,
            similarities: &inquiry.similarities,
            similarities_together: &inquiry.similarities_together,
            summaries: &inquiry.summaries,
            zone: &inquiry.zone,
            conversations: &inquiry.conversations,
            lexical: &inquiry.lexical,
            whole: whole_question(&inquiry.words),
        }
    }

    /// How much of the question's words a message has, itself or beside it: 0 to 1.
    pub(crate) fn coverage(&self, position: usize) -> f64 {
        (self.lexical[position] / self.whole).min(1.0)
    }

    /// The message so many steps away in the same conversation.
    pub(crate) fn neighbour(&self, position: usize, step: isize) -> Option<usize> {
        let other = position.checked_add_signed(step)?;
        let same = self.outlines.get(other)?.conversation_id == self.outlines[position].conversation_id;
        same.then_some(other)
    }
}

/// A word that occurs nowhere counts like the others: a question about something unheard of is covered by nothing.
fn whole_question(words: &[Vec<Match>]) -> f64 {
    let best: Vec<f64> =
        words.iter().map(|matches| matches.iter().map(|found| found.score).fold(0.0, f64::max)).collect();
    let known: Vec<f64> = best.iter().copied().filter(|score| *score > 0.0).collect();
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    best.iter().map(|score| if *score > 0.0 { *score } else { mean }).sum::<f64>().max(f64::MIN_POSITIVE)
}

/// One over the highest value, so that the highest becomes one.
pub(crate) fn scale(values: impl Iterator<Item = f64>) -> f64 {
    let highest = values.fold(0.0, f64::max);
    if highest > 0.0 { 1.0 / highest } else { 0.0 }
}

#[cfg(test)]
pub(crate) mod tests {
    use memoir_core::{ExchangeId, MessageId, Role, Timestamp};
    use memoir_store::Filter;

    use super::*;
    use crate::QueryKind;

    /// An inquiry over messages given as (conversation, author, created, asks), numbered from one.
    pub(crate) fn inquiry(messages: &[(i64, Option<&str>, i64, bool)]) -> Inquiry {
        let mut inquiry = Inquiry::new("?", QueryKind::Search, Filter::default());
        inquiry.outlines = (1..)
            .zip(messages)
            .map(|(id, (conversation, author, created, asks))| MessageOutline {
                id: MessageId::new(id),
                exchange_id: ExchangeId::new(id),
                conversation_id: ConversationId::new(*conversation),
                role: Role::User,
                author: author.map(str::to_owned),
                created: Timestamp::from_millis(*created),
                words: 10,
                asks: *asks,
            })
            .collect();
        inquiry.similarities = vec![0.0; inquiry.outlines.len()];
        inquiry.similarities_together = vec![0.0; inquiry.outlines.len()];
        inquiry
    }

    /// A match of message `id` in conversation `conversation`.
    pub(crate) fn found(id: i64, conversation: i64, score: f64) -> Match {
        Match { message_id: MessageId::new(id), conversation_id: ConversationId::new(conversation), score }
    }

    /// What one term adds.
    pub(crate) fn added(term: &dyn Term, inquiry: &Inquiry) -> Vec<f64> {
        let mut inquiry = inquiry.clone();
        inquiry.lexical = best_per_word(&inquiry.words, &inquiry.outlines);
        let mut scores = vec![0.0; inquiry.outlines.len()];
        term.add(&Evidence::from_inquiry(&inquiry), &mut scores);
        scores
    }

    #[test]
    fn every_term_is_known_by_its_word_and_others_are_refused() {
        for name in TermName::ALL {
            assert_eq!(name.as_str().parse(), Ok(name));
        }
        assert_eq!(terms(&TermName::ALL).count(), TermName::ALL.len());
        let error = "luck".parse::<TermName>().err().map(|error| error.to_string());
        assert_eq!(
            error.as_deref(),
            Some(
                "there is no term \"luck\"; the terms are words, conversation, meaning, summary, speaker, time, answers, length"
            )
        );
    }

    #[test]
    fn coverage_counts_words_that_occur_nowhere() {
        let mut inquiry = inquiry(&[(1, None, 0, false)]);
        inquiry.words = vec![vec![found(1, 1, 2.0)], Vec::new()];
        inquiry.lexical = best_per_word(&inquiry.words, &inquiry.outlines);
        assert!((Evidence::from_inquiry(&inquiry).coverage(0) - 0.5).abs() < 1e-9);
        inquiry.words.clear();
        inquiry.lexical = vec![0.0];
        assert!(Evidence::from_inquiry(&inquiry).coverage(0) < 1e-9);
    }
}
