//! What recall needs to know: vectors, words, and where a message stands in its talk.

use async_trait::async_trait;
use memoir_core::{ConversationId, ExchangeId, MessageId, Role, Timestamp};

use crate::Result;

/// A message that has no vector of a model yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    /// The message.
    pub message_id: MessageId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// Who said it, by name, where the talk was between people.
    pub author: Option<String>,
    /// What it says.
    pub text: String,
}

/// A vector to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEmbedding {
    /// The message it stands for.
    pub message_id: MessageId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// The vector, of length one.
    pub vector: Vec<f32>,
}

/// A message and how well it matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// The message.
    pub message_id: MessageId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// Higher is better.
    pub score: f64,
}

/// A message without its text: where it stands, and what kind of thing it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageOutline {
    /// The message.
    pub id: MessageId,
    /// Its exchange.
    pub exchange_id: ExchangeId,
    /// Its conversation.
    pub conversation_id: ConversationId,
    /// Who said it.
    pub role: Role,
    /// By name, where the talk was between people.
    pub author: Option<String>,
    /// When.
    pub created: Timestamp,
    /// How many words it has.
    pub words: u32,
    /// Whether it asks something.
    pub asks: bool,
}

/// Reading and writing what recall works on. Only shown, said messages take part.
#[async_trait]
pub trait Memory: Send + Sync {
    /// The newest messages of at least `shortest` tokens that have no vector of `model`. This looks at all there are.
    async fn unembedded(&self, model: &str, shortest: u32, limit: u32) -> Result<Vec<Unembedded>>;

    /// The same of one exchange, however much else there is.
    async fn unembedded_of(
        &self,
        exchange: ExchangeId,
        model: &str,
        shortest: u32,
    ) -> Result<Vec<Unembedded>>;

    /// Keeps vectors of `model`, all of them or none. One that is there already is left as it is.
    async fn put_embeddings(&self, model: &str, embeddings: &[NewEmbedding]) -> Result<()>;

    /// The messages whose vectors of `model` are nearest to `vector`, by cosine, outside `except`.
    async fn nearest(
        &self,
        model: &str,
        vector: &[f32],
        except: Option<ConversationId>,
        limit: usize,
    ) -> Result<Vec<Match>>;

    /// How well messages match one word, by BM25, the best `limit` of them.
    async fn matching_word(
        &self,
        word: &str,
        except: Option<ConversationId>,
        limit: u32,
    ) -> Result<Vec<Match>>;

    /// The messages of these conversations, in order, without their texts.
    async fn outlines(&self, conversations: &[ConversationId]) -> Result<Vec<MessageOutline>>;

    /// The texts of messages.
    async fn texts(&self, messages: &[MessageId]) -> Result<Vec<(MessageId, String)>>;

    /// The names of all who have spoken under one.
    async fn authors(&self) -> Result<Vec<String>>;

    /// How many conversations there are.
    async fn conversation_count(&self) -> Result<u64>;
}
