//! Giving messages their vectors.

use memoir_core::ExchangeId;
use memoir_models::EmbedTask;
use memoir_store::{NewEmbedding, Unembedded};

use crate::{Recall, RecallError};

/// Shorter messages ("ok", "thanks") mean nothing by themselves.
pub(crate) const SHORTEST: u32 = 10;

/// How many texts are embedded at a time.
const BATCH: u32 = 100;

/// So many are caught up with after a turn: no one waits for them noticeably.
const AFTER_A_TURN: u32 = 8;

impl Recall {
    /// Embeds the newest messages that have no vector yet, one batch of them; says how many there were.
    pub async fn embed_next(&self) -> Result<usize, RecallError> {
        self.embed(self.store.unembedded(self.embedder.name(), SHORTEST, BATCH).await?).await
    }

    /// Embeds the messages of one exchange, right after it was committed, so that the next prompt can find them.
    pub async fn embed_exchange(&self, exchange: ExchangeId) -> Result<usize, RecallError> {
        self.embed(self.store.unembedded_of(exchange, self.embedder.name(), SHORTEST).await?).await
    }

    /// Embeds a few messages that were left without a vector by a failure or a crash, if there are any.
    pub async fn catch_up(&self) -> Result<usize, RecallError> {
        match self.waiting().await? {
            0 => Ok(0),
            _ => self.embed(self.store.unembedded(self.embedder.name(), SHORTEST, AFTER_A_TURN).await?).await,
        }
    }

    async fn embed(&self, waiting: Vec<Unembedded>) -> Result<usize, RecallError> {
        if waiting.is_empty() {
            return Ok(0);
        }
        let texts: Vec<String> = waiting
            .iter()
            .map(|message| match &message.author {
                Some(author) => format!("{author}: {}", message.text),
                None => message.text.clone(),
            })
            .collect();
        let embedded = self.embedder.embed(&texts, EmbedTask::Document).await?;
        let embeddings: Vec<NewEmbedding> = waiting
            .iter()
            .zip(embedded.vectors)
            .map(|(message, vector)| NewEmbedding {
                message_id: message.message_id,
                conversation_id: message.conversation_id,
                vector,
            })
            .collect();
        self.store.put_embeddings(self.embedder.name(), &embeddings).await?;
        Ok(embeddings.len())
    }
}
