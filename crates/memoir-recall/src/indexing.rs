//! Giving messages their vectors.

use memoir_models::EmbedTask;
use memoir_store::NewEmbedding;

use crate::{Recall, RecallError};

/// Shorter messages ("ok", "thanks") mean nothing by themselves.
const SHORTEST: u32 = 10;

/// How many texts are embedded at a time.
const BATCH: u32 = 100;

impl Recall {
    /// Embeds the newest messages that have no vector yet, one batch of them; says how many there were.
    pub async fn embed_next(&self) -> Result<usize, RecallError> {
        let model = self.embedder.name();
        let waiting = self.store.unembedded(model, SHORTEST, BATCH).await?;
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
        self.store.put_embeddings(model, &embeddings).await?;
        Ok(embeddings.len())
    }
}
