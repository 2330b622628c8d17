//! Choosing the sentence that answers a question, or deciding that none does.

use memoir_core::{Answer, Quotation, Source, content_words};

use super::{Candidate, expected::Expected};
use crate::{Inquiry, dates::is_weekday, excerpt::is_form_of, stages::refine::cosine};

/// Weights of what speaks for a sentence, besides its similarity to the question.
const COVERAGE: f64 = 0.1;
const CONTEXT_COVERAGE: f64 = 0.4;
const RANK: f64 = 0.45;
const EXPECTED: f64 = 0.15;
const ASSISTANT: f64 = -0.03;
const SUPERSEDED: f64 = -0.3;

/// Weights of a sentence from the exchange or the conversation of the previous answer, for a follow-up.
const SAME_EXCHANGE: f64 = 0.3;
const SAME_CONVERSATION: f64 = 0.3;

/// Maximum difference in score at which a newer sentence on the same subject wins.
const NEWER_MARGIN: f64 = 0.15;
/// Maximum difference in score at which an older sentence answers a question for the former state.
const FORMER_MARGIN: f64 = 0.4;
/// Minimum cosine of two sentences on the same subject.
const SAME_SUBJECT: f64 = 0.4;

/// Minimum probability that the best sentence answers the question.
const MIN_CONFIDENCE: f64 = 0.5;

/// Minimum weighted fraction of the question's words in a note of a few words that answers it.
const MIN_NOTE_COVERAGE: f64 = 0.95;

/// Minimum cosine of a statement and one that it contradicts.
const CONTRADICTION_COSINE: f64 = 0.5;

/// How a question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionKind {
    /// It asks for one fact.
    Question,
    /// It refers to the question before it.
    FollowUp,
    /// It names a topic only.
    Search,
}

/// A question and how it is asked.
pub(super) struct Question<'a> {
    pub(super) inquiry: &'a Inquiry,
    /// The prompt as typed.
    pub(super) prompt: &'a str,
    /// Answer to the question before it, if this one follows up on it.
    pub(super) previous: Option<&'a Candidate>,
    pub(super) kind: QuestionKind,
    /// Whether there are passages that are relevant to the prompt.
    pub(super) has_passages: bool,
    /// Similarity from which a passage counts as clearly relevant.
    pub(super) relevant_similarity: f64,
    /// Whether it asks for what was true before.
    pub(super) former: bool,
    /// Whether it asks for the time of the previous answer.
    pub(super) asks_when: bool,
}

impl Question<'_> {
    fn quote(&self, candidate: &Candidate) -> Quotation {
        Quotation {
            text: candidate.unit.text.clone(),
            source: candidate.source.clone(),
            answers_with_date: self.asks_when,
        }
    }
}

/// Chooses the sentence that answers the question. Earlier searches of memory answer it only if nothing else does,
/// because they may also be notes.
pub(super) fn choose(question: &Question<'_>, candidates: Vec<Candidate>) -> Answer {
    let (searches, others): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|candidate| candidate.may_be_search);
    match choose_among(question, others) {
        Answer::Absent { related } => {
            let contains_all = |candidate: &&Candidate| candidate.coverage >= MIN_NOTE_COVERAGE;
            let note = searches.iter().filter(contains_all).max_by_key(|candidate| candidate.created);
            note.map_or(Answer::Absent { related }, |note| Answer::Quotation(question.quote(note)))
        }
        answer => answer,
    }
}

fn choose_among(question: &Question<'_>, candidates: Vec<Candidate>) -> Answer {
    let expected = if question.asks_when { Expected::Any } else { Expected::parse(question.prompt) };
    let words = &question.inquiry.question.words;
    let mut scored: Vec<(f64, Candidate)> =
        candidates.into_iter().map(|candidate| (score(question, &candidate, expected), candidate)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let Some((best_score, best)) = scored.first().cloned() else { return Answer::Absent { related: None } };
    let confidence = confidence(question, &best, expected);
    tracing::debug!(
        score = best_score,
        similarity = best.similarity,
        coverage = best.coverage,
        context_coverage = best.context_coverage,
        confidence,
        "chose a sentence"
    );
    let is_answered = match question.kind {
        // A few words ask for whatever is relevant, and a follow-up for more of it.
        QuestionKind::Search | QuestionKind::FollowUp => question.has_passages,
        QuestionKind::Question => confidence >= MIN_CONFIDENCE,
    };
    if !is_answered {
        return Answer::Absent { related: question.has_passages.then(|| question.quote(&best)) };
    }
    let rivals = scored.iter().filter(|(score, candidate)| {
        *score >= best_score - NEWER_MARGIN
            && is_same_subject(candidate, &best)
            && (!expected.is_required() || expected.is_in(&candidate.unit.text, words))
    });
    let newest = rivals
        .max_by(|a, b| a.1.created.cmp(&b.1.created).then(a.0.total_cmp(&b.0)))
        .map_or(&best, |(_, newest)| newest);
    let chosen = if question.former {
        let limit = question.previous.map_or(newest.created, |previous| previous.created);
        let is_earlier = |(score, candidate): &&(f64, Candidate)| {
            candidate.created < limit && *score >= best_score - FORMER_MARGIN
        };
        scored.iter().find(is_earlier).map_or(newest, |(_, earlier)| earlier)
    } else {
        newest
    };
    Answer::Quotation(question.quote(chosen))
}

fn score(question: &Question<'_>, candidate: &Candidate, expected: Expected) -> f64 {
    let words = &question.inquiry.question.words;
    let fits = expected != Expected::Any && expected.is_in(&candidate.unit.text, words);
    let previous = question.previous.filter(|_| !question.former).map_or(0.0, |previous| {
        let ((exchange, conversation), (previous_exchange, previous_conversation)) =
            (place(candidate), place(previous));
        let weigh = |same: bool, weight| if same && exchange.is_some() { weight } else { 0.0 };
        weigh(exchange == previous_exchange, SAME_EXCHANGE)
            + weigh(conversation == previous_conversation, SAME_CONVERSATION)
    });
    candidate.similarity
        + COVERAGE * candidate.coverage
        + CONTEXT_COVERAGE * candidate.context_coverage
        + RANK * candidate.rank
        + if fits { EXPECTED } else { 0.0 }
        + if candidate.by_assistant { ASSISTANT } else { 0.0 }
        + if candidate.superseded && !question.former { SUPERSEDED } else { 0.0 }
        + previous
}

/// Returns the exchange and the conversation of a candidate.
fn place(candidate: &Candidate) -> (Option<i64>, Option<i64>) {
    match &candidate.source {
        Source::Message { exchange, conversation, .. } => (Some(exchange.get()), Some(conversation.get())),
        Source::Document { .. } | Source::CoreMemory(_) => (None, None),
    }
}

/// Estimates the probability that a sentence answers the question. The weights were fitted on half of `answers.json`.
fn confidence(question: &Question<'_>, candidate: &Candidate, expected: Expected) -> f64 {
    let fits = expected.is_in(&candidate.unit.text, &question.inquiry.question.words);
    let logit = -1.3
        + 5.1 * (candidate.similarity - question.relevant_similarity)
        + 2.8 * candidate.context_coverage
        + match expected {
            // What the sentence says about the subject is usually part of the reason.
            Expected::Reason => 0.6,
            _ if expected.is_required() && !fits => -2.2,
            _ => 0.0,
        };
    1.0 / (1.0 + (-logit).exp())
}

fn is_same_subject(a: &Candidate, b: &Candidate) -> bool {
    a.vector.len() == b.vector.len() && cosine(&a.vector, &b.vector) >= SAME_SUBJECT
}

/// Returns the statement that a new one contradicts: it is about the same thing and has another value.
pub(super) fn find_contradiction(statement: &str, candidates: &[Candidate]) -> Option<Quotation> {
    let new_words = content_words(statement);
    let contradicts = |candidate: &&Candidate| {
        let old_words = content_words(&candidate.unit.text);
        let shared =
            new_words.iter().any(|word| !is_value(word) && old_words.iter().any(|old| is_form_of(old, word)));
        let added = new_words.iter().any(|word| is_value(word) && !old_words.contains(word));
        let replaced = old_words.iter().any(|word| is_value(word) && !new_words.contains(word));
        candidate.similarity >= CONTRADICTION_COSINE && shared && added && replaced
    };
    let nearest =
        candidates.iter().filter(contradicts).max_by(|a, b| a.similarity.total_cmp(&b.similarity))?;
    Some(Quotation {
        text: nearest.unit.text.clone(),
        source: nearest.source.clone(),
        answers_with_date: false,
    })
}

/// Returns whether a word is a value that may change, such as a number or a day.
fn is_value(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit()) || is_weekday(word)
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, ExchangeId, Timestamp};
    use memoir_store::Filter;

    use super::*;
    use crate::{QueryKind, answer::units};

    fn candidate(text: &str, exchange: i64, similarity: f64) -> Candidate {
        let created = Timestamp::from_millis(exchange * 1000);
        Candidate {
            unit: units::split(text).remove(0),
            source: Source::Message {
                conversation: ConversationId::new(exchange),
                exchange: ExchangeId::new(exchange),
                title: "t".into(),
                speaker: "you".into(),
                created,
            },
            created,
            similarity,
            coverage: 0.5,
            context_coverage: 0.5,
            rank: 1.0,
            by_assistant: false,
            may_be_search: false,
            superseded: false,
            vector: vec![1.0, 0.0],
        }
    }

    fn choose_first(prompt: &str, former: bool, candidates: &[Candidate]) -> Option<String> {
        let mut inquiry = Inquiry::new(prompt, QueryKind::Prompt, Filter::default());
        inquiry.question.words = content_words(prompt);
        let question = Question {
            inquiry: &inquiry,
            prompt,
            previous: None,
            kind: QuestionKind::Question,
            has_passages: true,
            relevant_similarity: 0.25,
            former,
            asks_when: false,
        };
        match choose(&question, candidates.to_vec()) {
            Answer::Quotation(quotation) => Some(quotation.text),
            _ => None,
        }
    }

    #[test]
    fn the_newer_of_two_answers_wins_unless_the_former_state_is_asked_for() {
        let candidates =
            [candidate("We use Postgres.", 1, 0.7), candidate("The database is SQLite.", 2, 0.65)];
        let first = |prompt, former| choose_first(prompt, former, &candidates);
        assert_eq!(first("What database do we use?", false).as_deref(), Some("The database is SQLite."));
        assert_eq!(first("What did we use before?", true).as_deref(), Some("We use Postgres."));
    }

    #[test]
    fn a_sentence_without_the_expected_kind_of_answer_is_no_answer() {
        let candidates = [candidate("Tomo came by with cake.", 1, 0.6)];
        assert_eq!(choose_first("What is Tomo's surname?", false, &candidates), None);
        assert_eq!(choose_first("What is near?", false, &[candidate("Far.", 1, 0.1)]), None);
        assert_eq!(choose_first("What is there?", false, &[]), None);
    }

    #[test]
    fn a_statement_contradicts_one_with_another_value() {
        let candidates = [
            candidate("Samira likes tea.", 1, 0.9),
            candidate("Samira works 24 hours a week.", 2, 0.8),
            candidate("The oven works 9 hours.", 3, 0.3),
        ];
        let old = find_contradiction("Samira works 30 hours a week from now on.", &candidates);
        assert_eq!(old.map(|old| old.text).as_deref(), Some("Samira works 24 hours a week."));
        assert_eq!(find_contradiction("Samira works a lot.", &candidates), None);
    }
}
