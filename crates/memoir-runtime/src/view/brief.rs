//! A brief about a project, and what matters of a session after it was compacted.

use std::collections::HashSet;

use memoir_core::{Conversation, Exchange, ExchangeId, ExchangeSource, Timestamp};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{MemoryView, changes::is_statement};
use crate::failure::Failure;

/// Number of conversations in a brief.
const MAX_CONVERSATIONS: u32 = 5;

/// Number of conversations that are searched for decisions.
const SEARCHED_CONVERSATIONS: u32 = 20;

/// Number of the latest exchanges of a conversation that are searched for decisions.
const SEARCHED_EXCHANGES: u32 = 50;

/// Maximum number of decisions.
const MAX_DECISIONS: usize = 6;

/// Maximum number of open points.
const MAX_OPEN: usize = 5;

/// Maximum length of a quoted sentence, in characters. A longer one is rarely a decision.
const MAX_SENTENCE_CHARS: usize = 300;

/// Words in sentences that state a decision or a standing instruction.
const DECISIONS: [&str; 20] = [
    "we decided",
    "i decided",
    "decision:",
    "let's use",
    "let us use",
    "let's go with",
    "we'll use",
    "we will use",
    "we use ",
    "we switched",
    "switch to",
    "switched to",
    "from now on",
    "going forward",
    "instead of",
    "always ",
    "never ",
    "please remember",
    "we agreed",
    "must not",
];

/// Words in sentences that leave something open.
const OPEN: [&str; 12] = [
    "todo",
    "to do:",
    "next step",
    "still need",
    "still have to",
    "remaining",
    "not yet",
    "follow up",
    "open question",
    "left to do",
    "tomorrow",
    "blocked",
];

/// A sentence of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotedSentence {
    /// Exchange that it is quoted from.
    pub exchange: ExchangeId,
    /// When it was said.
    pub date: Timestamp,
    /// The sentence, verbatim.
    pub text: String,
}

/// Where the work on a project stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectBrief {
    /// The latest conversations with their last exchanges, newest first.
    pub latest: Vec<(Conversation, Exchange)>,
    /// Recent decisions and standing instructions of the user, newest first.
    pub decisions: Vec<QuotedSentence>,
    /// What the latest exchanges leave open, newest first.
    pub open: Vec<QuotedSentence>,
}

/// What matters of a session whose earlier part its program no longer has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionDigest {
    /// The first exchange, which usually states the task.
    pub first: Option<Exchange>,
    /// Decisions and standing instructions of the user, newest first.
    pub decisions: Vec<QuotedSentence>,
    /// The latest exchanges, oldest first, without the first one.
    pub latest: Vec<Exchange>,
}

/// Number of the latest exchanges in a digest of a session.
const LATEST_EXCHANGES: usize = 3;

impl MemoryView {
    /// Returns where the work on the project stands. `source` is the session that asks; its own conversation is left out.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn brief(&self, source: Option<&ExchangeSource>) -> Result<ProjectBrief, Failure> {
        let mut brief = ProjectBrief::default();
        let conversations = self.conversations(None, true, None, SEARCHED_CONVERSATIONS).await?;
        for (index, conversation) in (0..).zip(conversations) {
            let mut exchanges = self.runtime.store().exchanges(conversation.id, SEARCHED_EXCHANGES).await?;
            if exchanges.iter().any(|exchange| source.is_some() && exchange.source.as_ref() == source) {
                continue;
            }
            brief.decisions.extend(exchanges.iter().rev().flat_map(find_decisions));
            let Some(last) = exchanges.pop() else { continue };
            if index < MAX_CONVERSATIONS {
                brief.open.extend(find_open(&last));
                brief.latest.push((conversation, last));
            }
        }
        brief.decisions.sort_by_key(|decision| std::cmp::Reverse(decision.date));
        keep_distinct(&mut brief.decisions, MAX_DECISIONS);
        keep_distinct(&mut brief.open, MAX_OPEN);
        Ok(brief)
    }

    /// Returns what matters of a session of another program that was compacted.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn session_digest(&self, source: &ExchangeSource) -> Result<SessionDigest, Failure> {
        let exchanges = self.session_exchanges(source).await?;
        let mut decisions: Vec<QuotedSentence> = exchanges.iter().rev().flat_map(find_decisions).collect();
        keep_distinct(&mut decisions, MAX_DECISIONS);
        let latest_start = exchanges.len().saturating_sub(LATEST_EXCHANGES).max(1).min(exchanges.len());
        Ok(SessionDigest {
            latest: exchanges[latest_start..].to_vec(),
            first: exchanges.into_iter().next(),
            decisions,
        })
    }
}

/// Returns the sentences of the user that state a decision. What a program asked to remember is not the user's.
fn find_decisions(exchange: &Exchange) -> Vec<QuotedSentence> {
    if is_statement(exchange) {
        return Vec::new();
    }
    let is_decision = |sentence: &str| contains_any(sentence, &DECISIONS) && !sentence.ends_with('?');
    quote(exchange, &exchange.user_message, is_decision)
}

/// Returns the sentences of an exchange that leave something open.
fn find_open(exchange: &Exchange) -> Vec<QuotedSentence> {
    let is_open = |sentence: &str| contains_any(sentence, &OPEN);
    let mut sentences = quote(exchange, &exchange.assistant_message, is_open);
    sentences.extend(quote(exchange, &exchange.user_message, is_open));
    // An answer that ends with a question waits for the user.
    let last = sentences_of(&exchange.assistant_message).last().map(str::to_owned);
    if let Some(text) = last.filter(|text| text.ends_with('?') && !is_open(text)) {
        sentences.push(QuotedSentence { exchange: exchange.id, date: exchange.started, text });
    }
    sentences
}

fn quote(exchange: &Exchange, text: &str, matches: impl Fn(&str) -> bool) -> Vec<QuotedSentence> {
    let sentences = sentences_of(text).filter(|sentence| matches(sentence));
    sentences
        .map(|text| QuotedSentence { exchange: exchange.id, date: exchange.started, text: text.to_owned() })
        .collect()
}

fn sentences_of(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let sentences: Vec<&str> = text
        .lines()
        .flat_map(|line| line.unicode_sentences())
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty() && sentence.chars().count() <= MAX_SENTENCE_CHARS)
        .collect();
    sentences.into_iter()
}

fn contains_any(sentence: &str, words: &[&str]) -> bool {
    let sentence = sentence.to_lowercase().replace('’', "'");
    words.iter().any(|word| {
        sentence.match_indices(word).any(|(start, _)| !sentence[..start].ends_with(char::is_alphanumeric))
    })
}

fn keep_distinct(sentences: &mut Vec<QuotedSentence>, limit: usize) {
    let mut seen = HashSet::new();
    sentences.retain(|sentence| seen.insert(sentence.text.to_lowercase()));
    sentences.truncate(limit);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_and_open_points_are_recognized() {
        for decision in [
            "From now on, use pnpm.",
            "We decided on SQLite.",
            "Let’s go with Rust 2024.",
            "Never push to main.",
        ] {
            assert!(contains_any(decision, &DECISIONS), "{decision}");
        }
        for other in ["What is the port?", "I nevertheless like it.", "The build failed."] {
            assert!(!contains_any(other, &DECISIONS), "{other}");
        }
        assert!(contains_any("Next steps: write the migration.", &OPEN));
        assert!(!contains_any("Done.", &OPEN));
        let sentences: Vec<&str> = sentences_of("Fixed it. The tests pass.\n\nNext step: deploy?").collect();
        assert_eq!(sentences, ["Fixed it.", "The tests pass.", "Next step: deploy?"]);
    }
}
