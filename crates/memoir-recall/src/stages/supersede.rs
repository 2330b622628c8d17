//! Detects corrections: of two contradicting statements, the newer ranks first and the older is marked as superseded.
//!
//! A later statement on the same topic is a correction if it says so ("actually", "no longer", "moved to"), or if it is
//! nearly the same sentence with a different word.

use async_trait::async_trait;
use memoir_core::{Correction, Role, content_words};
use memoir_store::MessageOutline;

use super::refine::cosine;
use crate::{
    Inquiry, RankedMessage, Recall, RecallError, Stage, excerpt::is_form_of, subject::have_different_subjects,
};

/// Maximum number of words of a statement that can correct or be corrected.
const MAX_WORDS: u32 = 100;

/// Number of top-ranked messages to compare with each other.
const MAX_MESSAGES: usize = 30;

/// Minimum cosine of a correction and the statement it corrects.
const SAME_SUBJECT: f64 = 0.55;
/// Minimum fraction of words that an explicit correction and the corrected statement share.
const SAME_WORDS: f64 = 0.2;

/// Minimum cosine of two sentences that differ in a word.
const SAME_MEANING: f64 = 0.75;
/// Minimum fraction of words that two such sentences share.
const SAME_SENTENCE: f64 = 0.6;

/// Words and phrases that announce a correction.
const CORRECTION_PHRASES: [&str; 34] = [
    "actually",
    "correction",
    "i was wrong",
    "i misspoke",
    "i meant",
    "not anymore",
    "no longer",
    "any longer",
    "instead of",
    "rather than",
    "changed my mind",
    "changed to",
    "has changed",
    "switched to",
    "switched from",
    "moved to",
    "moved from",
    "is now",
    "are now",
    "am now",
    "it's now",
    "now it",
    "now we",
    "now i",
    "from now on",
    "scratch that",
    "ignore what",
    "forget what",
    "update",
    "turns out",
    "as of",
    "replaced",
    "rescheduled",
    "postponed",
];

pub(crate) struct SupersedeStage;

#[async_trait]
impl Stage for SupersedeStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let best: Vec<_> =
            inquiry.ranked.iter().take(MAX_MESSAGES).map(|message| message.outline.id).collect();
        inquiry.texts.extend(recall.store.texts(&best).await?);
        supersede(inquiry);
        Ok(())
    }
}

fn supersede(inquiry: &mut Inquiry) {
    let count = inquiry.ranked.len().min(MAX_MESSAGES);
    let statements: Vec<Option<Statement<'_>>> =
        inquiry.ranked[..count].iter().map(|message| Statement::parse(inquiry, message)).collect();
    let mut corrections = Vec::new();
    for (older, old) in statements.iter().enumerate() {
        let Some(old) = old else { continue };
        let newest = (0..count)
            .filter(|newer| statements[*newer].as_ref().is_some_and(|new| new.corrects(old)))
            .max_by_key(|newer| inquiry.ranked[*newer].outline.created);
        corrections.extend(newest.map(|newer| (older, newer)));
    }
    // The question asks for the older one if it names something that only that one contains.
    let asks_for = |older: &Statement<'_>, newer: &Statement<'_>| {
        let has = |words: &[String], word: &String| words.iter().any(|other| is_form_of(other, word));
        inquiry.question.words.iter().any(|word| has(&older.words, word) && !has(&newer.words, word))
    };
    let asked: Vec<bool> = corrections
        .iter()
        .map(|(older, newer)| match (&statements[*older], &statements[*newer]) {
            (Some(older), Some(newer)) => asks_for(older, newer),
            _ => false,
        })
        .collect();
    drop(statements);
    for (older, newer) in &corrections {
        let newer = &inquiry.ranked[*newer].outline;
        let correction = Correction { created: newer.created, exchange_id: Some(newer.exchange_id) };
        inquiry.ranked[*older].superseded = Some(correction);
    }
    // Rank a correction above the statement it corrects, unless the question asks for the older one by date.
    let is_in_asked_dates = |message: &RankedMessage| {
        inquiry
            .question
            .dates
            .is_some_and(|dates| (dates.start..dates.end).contains(&message.outline.created))
    };
    let mut asked = asked.into_iter();
    corrections.retain(|_| !asked.next().unwrap_or(false));
    corrections.retain(|(older, newer)| {
        !is_in_asked_dates(&inquiry.ranked[*older]) || is_in_asked_dates(&inquiry.ranked[*newer])
    });
    for (older, newer) in corrections {
        inquiry.ranked[newer].score = inquiry.ranked[newer].score.max(inquiry.ranked[older].score);
    }
    let order = |a: &RankedMessage, b: &RankedMessage| {
        b.score.total_cmp(&a.score).then(a.superseded.is_some().cmp(&b.superseded.is_some()))
    };
    inquiry.ranked[..count].sort_by(order);
}

/// A statement by the user that is not a question.
struct Statement<'a> {
    outline: &'a MessageOutline,
    text: &'a str,
    words: Vec<String>,
    vector: Option<&'a Vec<f32>>,
    is_correction: bool,
}

impl<'a> Statement<'a> {
    fn parse(inquiry: &'a Inquiry, message: &'a RankedMessage) -> Option<Self> {
        let outline = &message.outline;
        let text = inquiry.texts.get(&outline.id)?;
        if outline.role != Role::User || outline.is_question || outline.words > MAX_WORDS {
            return None;
        }
        // Separate words by single spaces without punctuation, so that phrases match whole words only.
        let normalized = text.to_lowercase().replace(|c: char| !c.is_alphanumeric() && c != '\'', " ");
        let normalized = format!(" {} ", normalized.split_whitespace().collect::<Vec<_>>().join(" "));
        Some(Self {
            outline,
            text,
            words: content_words(text),
            vector: inquiry.vectors.get(&outline.id),
            is_correction: CORRECTION_PHRASES
                .iter()
                .any(|phrase| normalized.contains(&format!(" {phrase} "))),
        })
    }

    /// Returns whether this statement corrects an earlier one.
    fn corrects(&self, earlier: &Self) -> bool {
        let (new, old) = (self.outline, earlier.outline);
        if new.created <= old.created || new.author != old.author {
            return false;
        }
        let similarity = match (self.vector, earlier.vector) {
            (Some(new), Some(old)) => cosine(new, old),
            _ => return false,
        };
        if similarity < SAME_SUBJECT {
            return false;
        }
        let overlap =
            shared_fraction(&self.words, &earlier.words).min(shared_fraction(&earlier.words, &self.words));
        // Repeating a statement or only adding to it is not a correction.
        let (omits_words, adds_words) =
            (has_other_words(&earlier.words, &self.words), has_other_words(&self.words, &earlier.words));
        let is_variant = omits_words && adds_words && similarity >= SAME_MEANING && overlap >= SAME_SENTENCE;
        (self.is_correction && adds_words && overlap >= SAME_WORDS)
            || (is_variant && !have_different_subjects(earlier.text, self.text))
    }
}

/// Returns the fraction of `words` that occur in `others` in any form.
fn shared_fraction(words: &[String], others: &[String]) -> f64 {
    let has = |word: &&String| others.iter().any(|other| is_form_of(word, other));
    words.iter().filter(has).count() as f64 / words.len().max(1) as f64
}

/// Returns whether any of `words` is missing from `others`.
fn has_other_words(words: &[String], others: &[String]) -> bool {
    words.iter().any(|word| !others.contains(word))
}

#[cfg(test)]
mod tests {
    use memoir_core::MessageId;

    use super::*;
    use crate::{stages::fuse, terms::tests::inquiry};

    /// Runs the stage on two statements with the older one ranked first.
    fn supersede_two(older: &str, newer: &str, cosine: f32) -> Inquiry {
        let mut inquiry =
            inquiry(&[(1, None, 1000, older.ends_with('?')), (2, None, 2000, newer.ends_with('?'))]);
        let sine = (1.0 - cosine * cosine).sqrt();
        inquiry.vectors =
            [(MessageId::new(1), vec![1.0, 0.0]), (MessageId::new(2), vec![cosine, sine])].into();
        inquiry.texts = [(MessageId::new(1), older.to_owned()), (MessageId::new(2), newer.to_owned())].into();
        inquiry.lexical_scores = vec![0.0; 2];
        fuse::rank(&mut inquiry, &[]);
        inquiry.ranked.sort_by_key(|message| message.outline.id);
        inquiry.ranked.iter_mut().zip([2.0, 1.0]).for_each(|(message, score)| message.score = score);
        supersede(&mut inquiry);
        inquiry
    }

    #[test]
    fn a_correction_ranks_first_and_the_corrected_statement_gets_its_date() {
        for (older, newer, cosine) in [
            ("The meeting is on Tuesday.", "Actually the meeting is on Thursday.", 0.9),
            ("My dentist is Dr. Weber.", "My dentist is now Dr. Roth, Weber retired.", 0.7),
            ("We deploy on Fridays at noon.", "We deploy on Mondays at noon.", 0.85),
        ] {
            let ranked = supersede_two(older, newer, cosine).ranked;
            let order: Vec<i64> = ranked.iter().map(|message| message.outline.id.get()).collect();
            assert_eq!(order, [2, 1], "{newer}");
            assert_eq!(ranked[1].superseded.map(|correction| correction.created.as_millis()), Some(2000));
            assert_eq!(ranked[0].superseded, None);
        }
    }

    #[test]
    fn a_statement_that_the_question_names_stays_first() {
        let mut inquiry = inquiry(&[(1, None, 1000, false), (2, None, 2000, false)]);
        inquiry.question.words = vec!["stock1".into()];
        inquiry.vectors = [(MessageId::new(1), vec![1.0, 0.0]), (MessageId::new(2), vec![1.0, 0.0])].into();
        let text = |name: &str| format!("Please put {name} on the list of things that we have");
        inquiry.texts = [(MessageId::new(1), text("stock1")), (MessageId::new(2), text("stock2"))].into();
        inquiry.lexical_scores = vec![0.0; 2];
        fuse::rank(&mut inquiry, &[]);
        inquiry.ranked.sort_by_key(|message| message.outline.id);
        inquiry.ranked.iter_mut().zip([2.0, 1.0]).for_each(|(message, score)| message.score = score);
        supersede(&mut inquiry);
        assert_eq!(inquiry.ranked[0].outline.id, MessageId::new(1));
    }

    #[test]
    fn similar_statements_that_correct_nothing_keep_their_order() {
        for (older, newer, cosine) in [
            ("The meeting is on Tuesday.", "Actually I had fish for dinner.", 0.1),
            ("The meeting is on Tuesday.", "Is the meeting actually on Thursday?", 0.9),
            ("The flat in Porto costs 900 euros.", "You know I found the flat in Porto was often cold.", 0.8),
            ("Dentist for Ana on Tuesday at noon.", "Dentist for Tom on Friday at noon.", 0.9),
            ("I like green tea.", "I like green tea.", 1.0),
            ("I like green tea.", "I like green tea and milk.", 0.9),
            ("I planted tomatoes.", "I watered the tomatoes and the beans this morning.", 0.6),
        ] {
            let ranked = supersede_two(older, newer, cosine).ranked;
            assert_eq!(ranked[0].outline.id.get(), 1, "{newer}");
            assert!(ranked.iter().all(|message| message.superseded.is_none()), "{newer}");
        }
    }
}
