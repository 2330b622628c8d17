//! From a ranking to the few passages that are worth a prompt's room, or to none.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use memoir_core::{ConversationId, Passage, count_tokens, telling_words};

use crate::{Mode, Ranked, Recall, RecallError};

/// How many passages are given at most, and how many of one conversation.
const MOST: usize = 10;
const MOST_PER_CONVERSATION: usize = 3;

/// How many ranked messages are looked at for them: many, since one conversation may hold a thousand that are
/// nearly the same.
const CONSIDERED: usize = 3000;

/// Who asks: what comes unasked must be relevant; what is looked for may be further off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// A prompt, which is met with what is relevant, if anything is.
    Prompt,
    /// Someone who searches.
    Search,
}

impl Asking {
    /// How near in meaning, or how much of the question's words, the best passage must have for anything to come
    /// back at all. `docs/recall.md` tells what this lets through.
    const fn to_answer(self) -> Threshold {
        match self {
            Self::Prompt => Threshold { similarity: 0.42, coverage: 0.62 },
            Self::Search => Threshold { similarity: 0.28, coverage: 0.34 },
        }
    }

    /// The same for each passage, once something does.
    const fn to_be_among(self) -> Threshold {
        match self {
            Self::Prompt => Threshold { similarity: 0.33, coverage: 0.45 },
            Self::Search => Threshold { similarity: 0.28, coverage: 0.34 },
        }
    }
}

/// Near enough in meaning, or with enough of the words: either will do.
#[derive(Debug, Clone, Copy)]
struct Threshold {
    similarity: f64,
    coverage: f64,
}

impl Threshold {
    fn is_met_by(self, found: &Ranked) -> bool {
        found.similarity >= self.similarity || found.coverage >= self.coverage
    }
}

/// How much room passages take at most, in tokens.
const BUDGET: u64 = 2000;

/// Words of which a prompt can consist without asking for anything.
const PLEASANTRIES: [&str; 24] = [
    "ok", "okay", "thanks", "thank", "hi", "hello", "hey", "yes", "no", "sure", "great", "good", "nice",
    "cool", "bye", "please", "continue", "go", "done", "right", "fine", "perfect", "yep", "nope",
];

impl Recall {
    /// What was said before, outside `current`, that is relevant to `prompt`; nothing when nothing is.
    pub async fn passages(
        &self,
        prompt: &str,
        asking: Asking,
        current: Option<ConversationId>,
    ) -> Result<Vec<Passage>, RecallError> {
        if telling_words(prompt).iter().all(|word| PLEASANTRIES.contains(&word.as_str())) {
            return Ok(Vec::new());
        }
        let ranked = self.rank(prompt, Mode::Hybrid, current, CONSIDERED).await?;
        if !ranked.iter().any(|found| asking.to_answer().is_met_by(found)) {
            return Ok(Vec::new());
        }
        let relevant = ranked.into_iter().filter(|found| asking.to_be_among().is_met_by(found)).collect();
        self.with_texts(prompt, choose(relevant)).await
    }

    async fn with_texts(&self, prompt: &str, chosen: Vec<Ranked>) -> Result<Vec<Passage>, RecallError> {
        let ids: Vec<_> = chosen.iter().map(|found| found.outline.id).collect();
        let mut texts: HashMap<_, _> = self.store.texts(&ids).await?.into_iter().collect();
        let mut titles: HashMap<ConversationId, String> = HashMap::new();
        let mut passages = Vec::new();
        let mut room = BUDGET;
        for found in chosen {
            let outline = found.outline;
            let Some(text) = texts.remove(&outline.id).filter(|text| text.trim() != prompt.trim()) else {
                continue;
            };
            let tokens = count_tokens(&text) as u64;
            if tokens > room {
                continue;
            }
            room -= tokens;
            if let Entry::Vacant(unknown) = titles.entry(outline.conversation_id) {
                let conversation = self.store.conversation(outline.conversation_id).await?;
                unknown.insert(conversation.map(|found| found.title).unwrap_or_default());
            }
            passages.push(Passage {
                message_id: outline.id,
                exchange_id: outline.exchange_id,
                conversation_id: outline.conversation_id,
                title: titles.get(&outline.conversation_id).cloned().unwrap_or_default(),
                role: outline.role,
                author: outline.author,
                created: outline.created,
                text,
                score: found.score,
                similarity: found.similarity,
                coverage: found.coverage,
                tokens,
            });
        }
        Ok(passages)
    }
}

/// The best, not too many of one conversation, and one of an exchange.
fn choose(ranked: Vec<Ranked>) -> Vec<Ranked> {
    let mut exchanges = HashSet::new();
    let mut conversations: HashMap<ConversationId, usize> = HashMap::new();
    ranked
        .into_iter()
        .filter(|found| exchanges.insert(found.outline.exchange_id))
        .filter(|found| {
            let count = conversations.entry(found.outline.conversation_id).or_default();
            *count += 1;
            *count <= MOST_PER_CONVERSATION
        })
        .take(MOST)
        .collect()
}
