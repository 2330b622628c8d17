//! The terms of a message's score. They are soft: no term excludes a message.
//!
//! `docs/recall.md` describes how the weights were chosen and what each term adds.

mod answers;
mod conversation;
mod length;
mod meaning;
mod role;
mod speaker;
mod summary;
mod time;
mod words;

pub(crate) use words::score_words;

use std::{fmt, str::FromStr};

use memoir_core::{ConversationId, TimeZone, setting::UnknownName};
use memoir_store::{Match, MessageOutline, SummaryMatch};

use crate::{Inquiry, ParsedQuestion};

/// One summand of a message's score.
pub trait Term: Send + Sync {
    /// Adds this term to the score of every message.
    fn add(&self, evidence: &Evidence<'_>, scores: &mut [f64]);
}

/// The name of a term, as used in `rag.terms`. `docs/recall.md` describes each one.
///
/// To add a term, write its file and register it here: a variant, its position in [`TermName::ALL`], its name and its
/// type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is documented in the file of its term")]
pub enum TermName {
    Words,
    Conversation,
    Meaning,
    Summary,
    Speaker,
    Role,
    Time,
    Answers,
    Length,
}

impl TermName {
    /// All terms, in the order they are added up.
    pub const ALL: [Self; 9] = [
        Self::Words,
        Self::Conversation,
        Self::Meaning,
        Self::Summary,
        Self::Speaker,
        Self::Role,
        Self::Time,
        Self::Answers,
        Self::Length,
    ];

    /// Returns the name used in `rag.terms`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Conversation => "conversation",
            Self::Meaning => "meaning",
            Self::Summary => "summary",
            Self::Speaker => "speaker",
            Self::Role => "role",
            Self::Time => "time",
            Self::Answers => "answers",
            Self::Length => "length",
        }
    }

    /// Returns the implementation of the term.
    fn term(self) -> &'static dyn Term {
        match self {
            Self::Words => &words::WordsTerm,
            Self::Conversation => &conversation::ConversationTerm,
            Self::Meaning => &meaning::MeaningTerm,
            Self::Summary => &summary::SummaryTerm,
            Self::Speaker => &speaker::SpeakerTerm,
            Self::Role => &role::RoleTerm,
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
            valid_names: Self::ALL.map(Self::as_str).to_vec(),
        })
    }
}

/// Returns the terms with these names, always in the order of [`TermName::ALL`], because the order affects
/// floating-point sums.
pub(crate) fn terms(names: &[TermName]) -> impl Iterator<Item = &'static dyn Term> {
    TermName::ALL.into_iter().filter(move |name| names.contains(name)).map(TermName::term)
}

/// The input for scoring the messages of all candidate conversations.
pub struct Evidence<'a> {
    pub(crate) question: &'a ParsedQuestion,
    pub(crate) outlines: &'a [MessageOutline],
    /// Cosine similarity of each message.
    pub(crate) similarities: &'a [f64],
    /// Cosine similarity of each message combined with the previous one.
    pub(crate) pair_similarities: &'a [f64],
    pub(crate) summaries: &'a [SummaryMatch],
    pub(crate) zone: &'a TimeZone,
    pub(crate) conversations: &'a [(ConversationId, f64)],
    /// Lexical score of each message, including discounted matches in its neighbors.
    pub(crate) lexical_scores: &'a [f64],
    /// Upper bound of the lexical score: the sum of the best score for each query word.
    max_lexical_score: f64,
}

impl<'a> Evidence<'a> {
    /// Collects the results of earlier stages.
    pub(crate) fn from_inquiry(inquiry: &'a Inquiry) -> Self {
        Self {
            question: &inquiry.question,
            outlines: &inquiry.outlines,
            similarities: &inquiry.similarities,
            pair_similarities: &inquiry.pair_similarities,
            summaries: &inquiry.summaries,
            zone: &inquiry.zone,
            conversations: &inquiry.conversations,
            lexical_scores: &inquiry.lexical_scores,
            max_lexical_score: max_lexical_score(&inquiry.word_matches),
        }
    }

    /// Returns the similarities, scaled to a maximum of one. Negative ones become zero.
    fn scaled_similarities(&self) -> Vec<f64> {
        let scale = scale(self.similarities.iter().copied());
        self.similarities.iter().map(|similarity| similarity.max(0.0) * scale).collect()
    }

    /// Returns the weighted fraction of the question's words found in a message or next to it, from 0 to 1.
    pub(crate) fn coverage(&self, position: usize) -> f64 {
        (self.lexical_scores[position] / self.max_lexical_score).min(1.0)
    }

    /// Returns the position `step` messages away, if it is in the same conversation.
    pub(crate) fn neighbor(&self, position: usize, step: isize) -> Option<usize> {
        let other = position.checked_add_signed(step)?;
        let is_same = self.outlines.get(other)?.conversation_id == self.outlines[position].conversation_id;
        is_same.then_some(other)
    }
}

/// Returns the sum of the best score for each word. A word without matches counts like an average one, so a question
/// about something unknown is never fully covered.
fn max_lexical_score(word_matches: &[Vec<Match>]) -> f64 {
    let highest = |matches: &Vec<Match>| matches.iter().map(|message| message.score).fold(0.0, f64::max);
    let best: Vec<f64> = word_matches.iter().map(highest).collect();
    let positive: Vec<f64> = best.iter().copied().filter(|score| *score > 0.0).collect();
    let mean = positive.iter().sum::<f64>() / positive.len().max(1) as f64;
    best.iter().map(|score| if *score > 0.0 { *score } else { mean }).sum::<f64>().max(f64::MIN_POSITIVE)
}

/// Returns the factor that scales the highest value to one, or zero if no value is positive.
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

    /// Creates an inquiry over messages given as (conversation, author, created, asks), with ids starting at one.
    pub(crate) fn inquiry(messages: &[(i64, Option<&str>, i64, bool)]) -> Inquiry {
        let mut inquiry = Inquiry::new("?", QueryKind::Search, Filter::default());
        inquiry.outlines = (1..)
            .zip(messages)
            .map(|(id, (conversation, author, created, is_question))| MessageOutline {
                id: MessageId::new(id),
                exchange_id: ExchangeId::new(id),
                conversation_id: ConversationId::new(*conversation),
                role: Role::User,
                author: author.map(str::to_owned),
                created: Timestamp::from_millis(*created),
                words: 10,
                is_question: *is_question,
            })
            .collect();
        inquiry.similarities = vec![0.0; inquiry.outlines.len()];
        inquiry.pair_similarities = vec![0.0; inquiry.outlines.len()];
        inquiry
    }

    pub(crate) fn message_match(id: i64, conversation: i64, score: f64) -> Match {
        Match { message_id: MessageId::new(id), conversation_id: ConversationId::new(conversation), score }
    }

    /// Returns what a term adds to the score of each message.
    pub(crate) fn contribution(term: &dyn Term, inquiry: &Inquiry) -> Vec<f64> {
        let mut inquiry = inquiry.clone();
        inquiry.lexical_scores = score_words(&inquiry.word_matches, &inquiry.outlines);
        let mut scores = vec![0.0; inquiry.outlines.len()];
        term.add(&Evidence::from_inquiry(&inquiry), &mut scores);
        scores
    }

    #[test]
    fn every_term_parses_from_its_name_and_other_names_are_rejected() {
        for name in TermName::ALL {
            assert_eq!(name.as_str().parse(), Ok(name));
        }
        assert_eq!(terms(&TermName::ALL).count(), TermName::ALL.len());
        let error = "luck".parse::<TermName>().err().map(|error| error.to_string());
        assert_eq!(
            error.as_deref(),
            Some(
                "there is no term \"luck\"; the terms are words, conversation, meaning, summary, speaker, role, time, answers, length"
            )
        );
    }

    #[test]
    fn coverage_includes_words_without_matches() {
        let mut inquiry = inquiry(&[(1, None, 0, false)]);
        inquiry.word_matches = vec![vec![message_match(1, 1, 2.0)], Vec::new()];
        inquiry.lexical_scores = score_words(&inquiry.word_matches, &inquiry.outlines);
        assert!((Evidence::from_inquiry(&inquiry).coverage(0) - 0.5).abs() < 1e-9);
        inquiry.word_matches.clear();
        inquiry.lexical_scores = vec![0.0];
        assert!(Evidence::from_inquiry(&inquiry).coverage(0) < 1e-9);
    }
}
