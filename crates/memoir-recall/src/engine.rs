//! Asking memory: words and meaning are looked up, put together and scored.

use std::{collections::HashMap, sync::Arc};

use memoir_core::{Clock, ConversationId, TimeZone};
use memoir_models::{EmbedTask, Embedder, ModelError};
use memoir_store::{Match, MessageOutline, Store, StoreError};

use crate::{
    question::Question,
    score::{Evidence, score},
};

/// How many messages are looked up by one word, and by meaning. One busy conversation must not fill this alone.
const MOST_PER_WORD: u32 = 3000;
const MOST_BY_MEANING: usize = 3000;

/// How many words of a question are looked up; a longer one is a text of its own, and its rarest words tell.
const MOST_WORDS: usize = 32;

/// How many conversations are looked at closely.
const MOST_CONVERSATIONS: usize = 200;

/// Which ways of finding are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Words and meaning.
    Hybrid,
    /// Meaning alone.
    Dense,
    /// Words alone.
    Keyword,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The message.
    pub outline: MessageOutline,
    /// How well it matches; higher is better, among the answers to one question.
    pub score: f64,
    /// How near it is in meaning: a cosine.
    pub similarity: f64,
    /// How much of the question's words it has, itself or beside it: 0 to 1.
    pub coverage: f64,
}

/// Why memory could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The question could not be embedded.
    #[error(transparent)]
    Embedding(#[from] ModelError),
}

/// Memory, to be asked.
#[derive(Clone)]
pub struct Recall {
    /// What there is.
    pub store: Arc<dyn Store>,
    /// What tells the meaning of a text.
    pub embedder: Arc<dyn Embedder>,
    /// What time it is, for "yesterday".
    pub clock: Arc<dyn Clock>,
    /// Where, for the same.
    pub zone: TimeZone,
}

impl Recall {
    /// The messages that best answer `text`, best first, outside `except`.
    pub async fn rank(
        &self,
        text: &str,
        mode: Mode,
        except: Option<ConversationId>,
        limit: usize,
    ) -> Result<Vec<Ranked>, RecallError> {
        let question = Question::read(text, &self.store.authors().await?, self.clock.now(), &self.zone);
        let words = if mode == Mode::Dense { Vec::new() } else { self.words(&question, except).await? };
        let meaning =
            if mode == Mode::Keyword { Vec::new() } else { self.meaning(&question, except).await? };
        let outlines = self.store.outlines(&most_promising(&words, &meaning)).await?;
        let conversations = self.store.conversation_count().await?;
        let evidence = Evidence { question: &question, words, meaning, outlines: &outlines, conversations };
        let ranked = score(&evidence).into_iter().take(limit);
        Ok(ranked
            .map(|scored| Ranked {
                outline: outlines[scored.position].clone(),
                score: scored.score,
                similarity: scored.similarity,
                coverage: scored.coverage,
            })
            .collect())
    }

    async fn words(
        &self,
        question: &Question,
        except: Option<ConversationId>,
    ) -> Result<Vec<Vec<Match>>, RecallError> {
        let mut words = Vec::new();
        for word in question.words.iter().take(MOST_WORDS) {
            words.push(self.store.matching_word(word, except, MOST_PER_WORD).await?);
        }
        Ok(words)
    }

    async fn meaning(
        &self,
        question: &Question,
        except: Option<ConversationId>,
    ) -> Result<Vec<Match>, RecallError> {
        let embedded = self.embedder.embed(std::slice::from_ref(&question.meaning), EmbedTask::Query).await?;
        let Some(vector) = embedded.vectors.first() else { return Ok(Vec::new()) };
        Ok(self.store.nearest(self.embedder.name(), vector, except, MOST_BY_MEANING).await?)
    }
}

/// The conversations with the most and the best matches.
fn most_promising(words: &[Vec<Match>], meaning: &[Match]) -> Vec<ConversationId> {
    let mut promise: HashMap<ConversationId, f64> = HashMap::new();
    for found in words.iter().flatten().chain(meaning) {
        *promise.entry(found.conversation_id).or_default() += found.score.max(0.0);
    }
    let mut conversations: Vec<(ConversationId, f64)> = promise.into_iter().collect();
    conversations.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    conversations.into_iter().take(MOST_CONVERSATIONS).map(|(conversation, _)| conversation).collect()
}
