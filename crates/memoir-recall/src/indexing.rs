//! Giving texts their vectors.

use memoir_core::{CallCost, ConversationId, ExchangeId, Purpose, SubjectKind, Usage};
use memoir_models::EmbedTask;
use memoir_redact::without_secrets;
use memoir_store::{Embeddable, NewEmbedding, Unembedded};

use crate::{Recall, RecallError};

/// Shorter messages ("ok", "thanks") mean nothing by themselves.
const SHORTEST: u32 = 10;

/// How many texts are embedded at a time.
pub const BATCH: u32 = 100;

/// So many are caught up with after a turn: no one waits for them noticeably.
const AFTER_A_TURN: u32 = 8;

/// More of a text than this is not sent anywhere, in bytes. A token is at least a byte, and models take eight thousand.
const MOST_SENT: usize = 8000;

impl Recall {
    /// Whose vectors texts should have, and which texts.
    pub fn embeddable(&self) -> Embeddable<'_> {
        Embeddable { model: self.embedder.name(), shortest: SHORTEST }
    }

    /// How many messages wait for their vectors.
    pub async fn waiting(&self) -> Result<u64, RecallError> {
        Ok(self.store.unembedded_count(SubjectKind::Message, &self.embeddable()).await?)
    }

    /// Embeds the newest messages that have no vector yet, one batch of them; says how many there were.
    pub async fn embed_next(&self) -> Result<usize, RecallError> {
        self.embed(&self.store.unembedded(&self.embeddable(), BATCH).await?).await
    }

    /// Embeds the messages of one exchange, right after it was committed, so that the next prompt can find them.
    pub async fn embed_exchange(&self, exchange: ExchangeId) -> Result<usize, RecallError> {
        self.embed(&self.store.unembedded_of(exchange, &self.embeddable()).await?).await
    }

    /// Embeds a few messages that were left without a vector by a failure or a crash, if there are any.
    pub async fn catch_up(&self) -> Result<usize, RecallError> {
        match self.waiting().await? {
            0 => Ok(0),
            _ => self.embed(&self.store.unembedded(&self.embeddable(), AFTER_A_TURN).await?).await,
        }
    }

    /// Embeds texts and keeps their vectors, all of them or none; says how many there were.
    pub async fn embed(&self, waiting: &[Unembedded]) -> Result<usize, RecallError> {
        if waiting.is_empty() {
            return Ok(0);
        }
        let texts: Vec<String> = waiting
            .iter()
            .map(|unembedded| match &unembedded.author {
                Some(author) => format!("{author}: {}", unembedded.text),
                None => unembedded.text.clone(),
            })
            .map(|text| self.fit_to_send(text))
            .collect();
        let embedded = self.embedder.embed(&texts, EmbedTask::Document).await?;
        let one = waiting.iter().all(|other| other.conversation_id == waiting[0].conversation_id);
        self.note_cost(Purpose::Embedding, embedded.usage, one.then_some(waiting[0].conversation_id)).await?;
        let embeddings: Vec<NewEmbedding> = waiting
            .iter()
            .zip(embedded.vectors)
            .map(|(unembedded, vector)| NewEmbedding {
                subject: unembedded.subject,
                vector,
                text: unembedded.text.clone(),
            })
            .collect();
        self.store.put_embeddings(self.embedder.name(), &embeddings).await?;
        Ok(embeddings.len())
    }

    /// A text as it may leave this machine, if it does: without secrets, and not longer than a model takes.
    pub(crate) fn fit_to_send(&self, text: String) -> String {
        if self.embedder.is_local() {
            return text;
        }
        let mut text = without_secrets(&text).into_owned();
        text.truncate(text.floor_char_boundary(MOST_SENT));
        text
    }

    /// Puts a call on the bill.
    pub(crate) async fn note_cost(
        &self,
        purpose: Purpose,
        usage: Usage,
        conversation: Option<ConversationId>,
    ) -> Result<(), RecallError> {
        if self.embedder.is_local() {
            return Ok(());
        }
        let model = self.embedder.name().to_owned();
        let cost = self.embedder.cost(&usage);
        let call = CallCost { purpose, model, usage, cost, created: self.clock.now() };
        Ok(self.store.record_calls(conversation, &[call]).await?)
    }
}
