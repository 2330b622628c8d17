//! Choosing the sentence that answers a question, or deciding that none does.

use memoir_core::{Answer, Quotation, Source, content_words};
use memoir_models::{ModelError, Reader, ReaderQuestion};

use super::{
    candidates::{Candidate, MemoryText},
    intent::Former,
};
use crate::{
    excerpt::is_form_of,
    subject::{have_different_subjects, is_value},
};

/// Weight of the question's words in a sentence. The reader knows synonyms better than it knows unusual words.
const COVERAGE: f64 = 1.0;

/// Minimum score of the only sentence that may answer a question, and what is added each time that the number of
/// sentences doubles: the best of many wrong ones has a higher score than the best of a few.
const MIN_SCORE: f64 = -0.4;
const MIN_SCORE_OF_DOUBLE: f64 = 0.2;

/// Minimum score of a sentence that replaces an earlier answer, and what is added for each one after it: few things
/// change twice. It need not contain the question's words.
const MIN_UPDATE_SCORE: f64 = 2.6;
const MIN_SCORE_OF_FURTHER_UPDATE: f64 = 2.0;

/// Weight of the score of such a sentence as an answer by itself.
const ANSWERS_ITSELF: f64 = 0.3;

/// Number of times that a newer answer is searched for.
const MAX_UPDATES: u32 = 2;

/// Added to the score of a sentence that a newer message corrected.
const SUPERSEDED: f64 = -2.0;

/// Added to the score of a sentence from the conversation of the previous answer, for a follow-up.
const SAME_CONVERSATION: f64 = 0.5;

/// Minimum weighted fraction of the question's words in a note of a few words that answers it.
const MIN_NOTE_COVERAGE: f64 = 0.95;

/// Minimum cosine of a statement and one that it contradicts.
const CONTRADICTION_COSINE: f64 = 0.5;

/// A question and how it is asked.
pub(super) struct Question<'a> {
    /// The question, together with the one that it follows up on.
    pub(super) text: String,
    /// Answer to the question before it, if this one follows up on it.
    pub(super) previous: Option<&'a Candidate>,
    /// What the question asks for, if that was true before something changed.
    pub(super) former: Option<Former>,
    /// Whether it is only a few words to search for.
    pub(super) is_search: bool,
    /// Whether there are passages that are relevant to it.
    pub(super) has_passages: bool,
}

/// Reads what may answer a question.
struct Reading<'a> {
    reader: &'a dyn Reader,
    question: &'a Question<'a>,
    texts: &'a [MemoryText],
}

/// Finds the sentence that answers the question. Earlier searches of memory answer it only if nothing else does,
/// because they may also be notes.
pub(super) async fn choose(
    reader: &dyn Reader,
    question: &Question<'_>,
    texts: &[MemoryText],
) -> Result<Answer, ModelError> {
    let reading = Reading { reader, question, texts };
    let found = match &question.former {
        Some(former) => reading.find_former(former).await?,
        None => reading.find_current(&question.text).await?,
    };
    // The reader finds something to say about any few words.
    let may_answer = question.has_passages || !question.is_search;
    Ok(match found {
        Some((score, best)) if score >= reading.min_score() && may_answer => Answer::Quotation(best.quote()),
        found => find_note(texts).unwrap_or_else(|| {
            let related = found.filter(|_| question.has_passages);
            Answer::Absent { related: related.map(|(_, best)| best.quote()) }
        }),
    })
}

impl<'a> Reading<'a> {
    /// Returns the minimum score of the sentence that answers the question.
    fn min_score(&self) -> f64 {
        let sentences: usize = self.texts.iter().map(|text| text.sentences.len()).sum();
        MIN_SCORE + MIN_SCORE_OF_DOUBLE * (sentences.max(1) as f64).log2()
    }

    /// Returns the best sentence, or a later one that replaces it, with the score of the first.
    async fn find_current(&self, question: &str) -> Result<Option<(f64, &'a Candidate)>, ModelError> {
        let asked = ReaderQuestion { text: question.to_owned(), earlier: None };
        let answers = self.score(asked, &|_| true).await?;
        let Some((score, mut best)) = best_of(answers.iter().copied()) else { return Ok(None) };
        tracing::debug!(score, "found a sentence");
        for updates in 0..MAX_UPDATES {
            if score < self.min_score() {
                break;
            }
            let earlier = Some(best.unit.meaning.clone());
            let asked = ReaderQuestion { text: question.to_owned(), earlier };
            let is_later = |candidate: &Candidate| {
                candidate.created > best.created
                    && !is_same_conversation(candidate, best)
                    && !self.question.separates(best, candidate)
            };
            let min_score = MIN_UPDATE_SCORE + MIN_SCORE_OF_FURTHER_UPDATE * f64::from(updates);
            let later = self.score(asked, &is_later).await?;
            let weighed = later.into_iter().map(|(score, later)| {
                let itself = answers.iter().find(|(_, candidate)| std::ptr::eq(*candidate, later));
                (score + ANSWERS_ITSELF * itself.map_or(0.0, |(score, _)| *score), later)
            });
            match best_of(weighed) {
                Some((score, later)) if score >= min_score => best = later,
                _ => break,
            }
        }
        Ok(Some((score, best)))
    }

    /// Returns the best sentence about the time before something changed.
    async fn find_former(&self, former: &Former) -> Result<Option<(f64, &'a Candidate)>, ModelError> {
        let asked = ReaderQuestion { text: former.topic.clone(), earlier: None };
        let names_later = |candidate: &Candidate| {
            let words = content_words(&candidate.unit.text);
            former.later.iter().any(|later| words.iter().any(|word| word == later || is_form_of(word, later)))
        };
        let limit = match self.question.previous {
            Some(previous) => Some(previous.created),
            None if former.later.is_empty() => {
                self.find_current(&former.topic).await?.map(|(_, current)| current.created)
            }
            None => None,
        };
        let is_former = |candidate: &Candidate| {
            limit.is_none_or(|limit| candidate.created < limit) && !names_later(candidate)
        };
        Ok(best_of(self.score(asked, &is_former).await?))
    }

    /// Returns the scores of some sentences.
    async fn score(
        &self,
        asked: ReaderQuestion,
        is_considered: &(dyn Fn(&Candidate) -> bool + Sync),
    ) -> Result<Vec<(f64, &'a Candidate)>, ModelError> {
        let is_previous = |candidate: &Candidate| {
            self.question.previous.is_some_and(|previous| previous.unit.text == candidate.unit.text)
        };
        let may_answer = |candidate: &Candidate| {
            !candidate.unit.is_question
                && !candidate.may_be_search
                && !is_previous(candidate)
                && is_considered(candidate)
        };
        let texts: Vec<&'a MemoryText> =
            self.texts.iter().filter(|text| text.sentences.iter().any(may_answer)).collect();
        let reader_texts = texts.iter().map(|text| text.to_reader_text()).collect();
        let coverage = if asked.earlier.is_some() { 0.0 } else { COVERAGE };
        let scores = self.reader.read(asked, reader_texts).await?;
        let sentences =
            texts.into_iter().zip(scores).flat_map(|(text, scores)| text.sentences.iter().zip(scores));
        let scored = sentences.filter(|(candidate, _)| may_answer(candidate)).map(|(candidate, score)| {
            (f64::from(score) + coverage * candidate.coverage + self.question.weigh(candidate), candidate)
        });
        Ok(scored.collect())
    }
}

/// Returns the sentence with the highest score.
fn best_of<'a>(scored: impl IntoIterator<Item = (f64, &'a Candidate)>) -> Option<(f64, &'a Candidate)> {
    scored.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))
}

impl Question<'_> {
    /// Returns whether two sentences are about different subjects, and the question names that of the first.
    fn separates(&self, named: &Candidate, other: &Candidate) -> bool {
        let (named, other) = (&named.unit.meaning, &other.unit.meaning);
        let has = |words: &[String], word: &String| words.iter().any(|other| is_form_of(other, word));
        let (named_words, other_words) = (content_words(named), content_words(other));
        let is_named =
            content_words(&self.text).iter().any(|word| has(&named_words, word) && !has(&other_words, word));
        is_named && have_different_subjects(named, other)
    }

    /// Returns what speaks for or against a sentence besides its words.
    fn weigh(&self, candidate: &Candidate) -> f64 {
        if self.former.is_some() {
            return 0.0;
        }
        let is_near = self.previous.is_some_and(|previous| is_same_conversation(candidate, previous));
        let near_previous = if is_near { SAME_CONVERSATION } else { 0.0 };
        near_previous + if candidate.superseded { SUPERSEDED } else { 0.0 }
    }
}

/// Returns the newest note of a few words that contains the words of the question.
fn find_note(texts: &[MemoryText]) -> Option<Answer> {
    let sentences = texts.iter().flat_map(|text| &text.sentences);
    let notes = sentences.filter(|candidate| {
        candidate.may_be_search && candidate.coverage >= MIN_NOTE_COVERAGE && candidate.says_more
    });
    let newest = notes.max_by_key(|candidate| candidate.created)?;
    Some(Answer::Quotation(newest.quote()))
}

impl Candidate {
    pub(super) fn quote(&self) -> Quotation {
        Quotation { text: self.unit.text.clone(), source: self.source.clone(), answers_with_date: false }
    }
}

fn is_same_conversation(a: &Candidate, b: &Candidate) -> bool {
    match (&a.source, &b.source) {
        (Source::Message { conversation: a, .. }, Source::Message { conversation: b, .. }) => a == b,
        _ => false,
    }
}

/// Returns whether a new statement contradicts an old one: they are about the same thing and have different values.
pub(super) fn contradicts(statement: &str, old: &str, similarity: f64) -> bool {
    let (new_words, old_words) = (content_words(statement), content_words(old));
    let shared =
        new_words.iter().any(|word| !is_value(word) && old_words.iter().any(|old| is_form_of(old, word)));
    let added = new_words.iter().any(|word| is_value(word) && !old_words.contains(word));
    let replaced = old_words.iter().any(|word| is_value(word) && !new_words.contains(word));
    similarity >= CONTRADICTION_COSINE
        && shared
        && added
        && replaced
        && !have_different_subjects(old, statement)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use memoir_core::{ConversationId, ExchangeId, Timestamp};
    use memoir_models::ReaderText;

    use super::*;
    use crate::answer::units;

    /// Gives the sentences that contain a phrase a score. A sentence counts as replacing any earlier one.
    struct PhraseReader(Vec<(&'static str, f32)>);

    #[async_trait]
    impl Reader for PhraseReader {
        async fn read(
            &self,
            _question: ReaderQuestion,
            texts: Vec<ReaderText>,
        ) -> Result<Vec<Vec<f32>>, ModelError> {
            let score = |sentence: &String| {
                self.0.iter().find(|(phrase, _)| sentence.contains(phrase)).map_or(-9.0, |(_, score)| *score)
            };
            Ok(texts.iter().map(|text| text.sentences.iter().map(score).collect()).collect())
        }
    }

    /// Returns one exchange, which is at the same time a conversation and a moment.
    fn exchange(number: i64, sentences: &str) -> MemoryText {
        let created = Timestamp::from_millis(number * 1000);
        let source = Source::Message {
            conversation: ConversationId::new(number),
            exchange: ExchangeId::new(number),
            title: "t".into(),
            speaker: "you".into(),
            created,
        };
        let sentence = |unit| Candidate::for_test(unit, source.clone(), created);
        MemoryText {
            title: "t".into(),
            before: String::new(),
            sentences: units::split(sentences).into_iter().map(sentence).collect(),
        }
    }

    fn ask(former: Option<Former>) -> Question<'static> {
        let text = "What database do we use?".into();
        Question { text, previous: None, former, is_search: false, has_passages: true }
    }

    #[expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]
    async fn choose_now(reader: &PhraseReader, former: Option<Former>, texts: &[MemoryText]) -> Answer {
        choose(reader, &ask(former), texts).await.unwrap()
    }

    async fn first_line(
        reader: &PhraseReader,
        former: Option<Former>,
        texts: &[MemoryText],
    ) -> Option<String> {
        match choose_now(reader, former, texts).await {
            Answer::Quotation(quotation) => Some(quotation.text),
            _ => None,
        }
    }

    #[tokio::test]
    async fn a_later_answer_wins_unless_the_former_state_is_asked_for() {
        let reader = PhraseReader(vec![("Postgres", 5.0), ("SQLite", 4.0)]);
        let texts = [exchange(1, "We use Postgres. It is fast."), exchange(2, "Everything runs on SQLite.")];
        let current = first_line(&reader, None, &texts).await;
        assert_eq!(current.as_deref(), Some("Everything runs on SQLite."));
        for question in ["What database did we use before?", "What database did we use before SQLite?"] {
            let former = Some(Former::parse(question, None));
            let former = first_line(&reader, former, &texts).await;
            assert_eq!(former.as_deref(), Some("We use Postgres."), "{question}");
        }
    }

    #[tokio::test]
    async fn sentences_that_do_not_answer_are_only_related() {
        let reader = PhraseReader(vec![("Which", 9.0), ("backup", -1.0)]);
        let texts = [exchange(1, "Which database? The backup takes four seconds.")];
        let answer = choose_now(&reader, None, &texts).await;
        let Answer::Absent { related: Some(related) } = answer else { panic!("{answer:?}") };
        assert_eq!(related.text, "The backup takes four seconds.");
        assert_eq!(choose_now(&reader, None, &[]).await, Answer::Absent { related: None });
    }

    #[test]
    fn a_statement_contradicts_one_with_another_value() {
        let new = "Samira works 30 hours a week from now on.";
        assert!(contradicts(new, "Samira works 24 hours a week.", 0.8));
        assert!(!contradicts(new, "Samira likes tea.", 0.9));
        assert!(!contradicts(new, "The oven works 9 hours.", 0.3));
        assert!(!contradicts("Samira works a lot.", "Samira works 24 hours a week.", 0.8));
    }
}
