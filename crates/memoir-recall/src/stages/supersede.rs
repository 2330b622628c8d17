//! Corrections: of two statements that contradict, the newer comes first and the older is marked.
//!
//! That can be told, without understanding, when someone says about the same thing something else later, and says
//! so ("actually", "no longer", "instead", "moved"), or says nearly the same sentence with another word in it.

use async_trait::async_trait;
use memoir_core::{Role, telling_words};
use memoir_store::MessageOutline;

use super::refine::cosine;
use crate::{Inquiry, RankedMessage, Recall, RecallError, Stage, excerpt::is_form_of};

/// A longer text is not a statement that another takes back.
const LONGEST: u32 = 100;

/// How many of the best are compared with each other.
const MOST: usize = 30;

/// How alike two statements must be, one of which takes something back, to be about the same thing: a cosine, and the
/// share of words that each has of the other.
const SAME_SUBJECT: f64 = 0.55;
const SAME_WORDS: f64 = 0.2;

/// The same for two that are one sentence but for a word.
const SAME_MEANING: f64 = 0.75;
const SAME_SENTENCE: f64 = 0.6;

/// Words and phrases with which people take back what they said.
const TAKES_BACK: [&str; 34] = [
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
        let best: Vec<_> = inquiry.ranked.iter().take(MOST).map(|found| found.outline.id).collect();
        inquiry.texts.extend(recall.store.texts(&best).await?);
        supersede(inquiry);
        Ok(())
    }
}

fn supersede(inquiry: &mut Inquiry) {
    let count = inquiry.ranked.len().min(MOST);
    let statements: Vec<Option<Statement<'_>>> =
        inquiry.ranked[..count].iter().map(|found| Statement::read(inquiry, found)).collect();
    let mut corrections = Vec::new();
    for (older, old) in statements.iter().enumerate() {
        let Some(old) = old else { continue };
        let newest = (0..count)
            .filter(|newer| statements[*newer].as_ref().is_some_and(|new| new.corrects(old)))
            .max_by_key(|newer| inquiry.ranked[*newer].outline.created);
        corrections.extend(newest.map(|newer| (older, newer)));
    }
    drop(statements);
    for (older, newer) in &corrections {
        inquiry.ranked[*older].superseded = Some(inquiry.ranked[*newer].outline.created);
    }
    // What corrects comes right before what it corrects, unless it is the older that was asked for by its date.
    let was_asked_for = |found: &RankedMessage| {
        inquiry.question.dates.is_some_and(|dates| (dates.start..dates.end).contains(&found.outline.created))
    };
    corrections.retain(|(older, newer)| {
        !was_asked_for(&inquiry.ranked[*older]) || was_asked_for(&inquiry.ranked[*newer])
    });
    for (older, newer) in corrections {
        inquiry.ranked[newer].score = inquiry.ranked[newer].score.max(inquiry.ranked[older].score);
    }
    let order = |a: &RankedMessage, b: &RankedMessage| {
        b.score.total_cmp(&a.score).then(a.superseded.is_some().cmp(&b.superseded.is_some()))
    };
    inquiry.ranked[..count].sort_by(order);
}

/// Something that the user said, not asked.
struct Statement<'a> {
    outline: &'a MessageOutline,
    words: Vec<String>,
    vector: Option<&'a Vec<f32>>,
    takes_back: bool,
}

impl<'a> Statement<'a> {
    fn read(inquiry: &'a Inquiry, found: &'a RankedMessage) -> Option<Self> {
        let outline = &found.outline;
        let text = inquiry.texts.get(&outline.id)?;
        if outline.role != Role::User || outline.asks || outline.words > LONGEST {
            return None;
        }
        // One space between words and no other signs, so that a phrase is found only as whole words.
        let said = text.to_lowercase().replace(|c: char| !c.is_alphanumeric() && c != '\'', " ");
        let said = format!(" {} ", said.split_whitespace().collect::<Vec<_>>().join(" "));
        Some(Self {
            outline,
            words: telling_words(text),
            vector: inquiry.vectors.get(&outline.id),
            takes_back: TAKES_BACK.iter().any(|phrase| said.contains(&format!(" {phrase} "))),
        })
    }

    /// Whether this takes back what was said earlier.
    fn corrects(&self, earlier: &Self) -> bool {
        let (new, old) = (self.outline, earlier.outline);
        if new.created <= old.created || new.author != old.author {
            return false;
        }
        let alike = match (self.vector, earlier.vector) {
            (Some(new), Some(old)) => cosine(new, old),
            _ => return false,
        };
        if alike < SAME_SUBJECT {
            return false;
        }
        let overlap = shared(&self.words, &earlier.words).min(shared(&earlier.words, &self.words));
        // Saying the same again takes nothing back, and neither does saying more.
        let (says_other, says_more) =
            (lacks(&earlier.words, &self.words), lacks(&self.words, &earlier.words));
        (self.takes_back && says_more && overlap >= SAME_WORDS)
            || (says_other && says_more && alike >= SAME_MEANING && overlap >= SAME_SENTENCE)
    }
}

/// Which share of words is among others, in one form or another.
fn shared(words: &[String], others: &[String]) -> f64 {
    let has = |word: &&String| others.iter().any(|other| is_form_of(word, other));
    words.iter().filter(has).count() as f64 / words.len().max(1) as f64
}

/// Whether a word is not among others.
fn lacks(words: &[String], others: &[String]) -> bool {
    words.iter().any(|word| !others.contains(word))
}

#[cfg(test)]
mod tests {
    use memoir_core::MessageId;

    use super::*;
    use crate::{stages::fuse, terms::tests::inquiry};

    /// Two statements, the older one ranked first.
    fn two(older: &str, newer: &str, alike: f32) -> Inquiry {
        let mut inquiry =
            inquiry(&[(1, None, 1000, older.ends_with('?')), (2, None, 2000, newer.ends_with('?'))]);
        let other = (1.0 - alike * alike).sqrt();
        inquiry.vectors =
            [(MessageId::new(1), vec![1.0, 0.0]), (MessageId::new(2), vec![alike, other])].into();
        inquiry.texts = [(MessageId::new(1), older.to_owned()), (MessageId::new(2), newer.to_owned())].into();
        inquiry.lexical = vec![0.0; 2];
        fuse::rank(&mut inquiry, &[]);
        inquiry.ranked.sort_by_key(|found| found.outline.id);
        inquiry.ranked.iter_mut().zip([2.0, 1.0]).for_each(|(found, score)| found.score = score);
        supersede(&mut inquiry);
        inquiry
    }

    #[test]
    fn a_correction_comes_first_and_the_corrected_is_marked_with_its_date() {
        for (older, newer, alike) in [
            ("The meeting is on Tuesday.", "Actually the meeting is on Thursday.", 0.9),
            ("My dentist is Dr. Weber.", "My dentist is now Dr. Roth, Weber retired.", 0.7),
            ("We deploy on Fridays at noon.", "We deploy on Mondays at noon.", 0.85),
        ] {
            let ranked = two(older, newer, alike).ranked;
            let order: Vec<i64> = ranked.iter().map(|found| found.outline.id.get()).collect();
            assert_eq!(order, [2, 1], "{newer}");
            assert_eq!(ranked[1].superseded.map(|moment| moment.as_millis()), Some(2000));
            assert_eq!(ranked[0].superseded, None);
        }
    }

    #[test]
    fn what_only_resembles_stays_where_it_is() {
        for (older, newer, alike) in [
            ("The meeting is on Tuesday.", "Actually I had fish for dinner.", 0.1),
            ("The meeting is on Tuesday.", "Is the meeting actually on Thursday?", 0.9),
            ("The flat in Porto costs 900 euros.", "You know I found the flat in Porto was often cold.", 0.8),
            ("I like green tea.", "I like green tea.", 1.0),
            ("I like green tea.", "I like green tea and milk.", 0.9),
            ("I planted tomatoes.", "I watered the tomatoes and the beans this morning.", 0.6),
        ] {
            let ranked = two(older, newer, alike).ranked;
            assert_eq!(ranked[0].outline.id.get(), 1, "{newer}");
            assert!(ranked.iter().all(|found| found.superseded.is_none()), "{newer}");
        }
    }
}
