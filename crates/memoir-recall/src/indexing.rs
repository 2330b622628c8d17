//! Embedding messages, summaries and chunks of documents.

use std::ops::Range;

use memoir_core::{CallCost, ChunkId, ConversationId, ExchangeId, Purpose, SubjectKind, Usage, count_tokens};
use memoir_models::EmbedTask;
use memoir_redact::without_secrets;
use memoir_store::{ChunkVectors, Embeddable, NewEmbedding, Unembedded};

use crate::{ChunkSize, Recall, RecallError, chunk::chunk_by};

/// Shorter messages ("ok", "thanks") mean nothing by themselves.
const SHORTEST: u32 = 10;

/// How many texts are embedded at a time.
pub const BATCH: u32 = 100;

/// So many are caught up with after a turn: no one waits for them noticeably.
const AFTER_A_TURN: u32 = 8;

/// More of a text than this is not sent anywhere, in bytes. A token is at least a byte, and models take eight thousand.
const MOST_SENT: usize = 8000;

/// So much of a title stands before a text, in characters.
const LONGEST_TITLE: usize = 100;

impl Recall {
    /// Whose vectors texts should have, and which texts.
    pub fn embeddable(&self) -> Embeddable<'_> {
        Embeddable { model: self.embedder.name(), shortest: SHORTEST }
    }

    /// Loads the search index into memory, so that the first question need not wait for it.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn get_ready(&self) -> Result<(), RecallError> {
        let nothing = vec![0.0; self.embedder.dimensions().unwrap_or(0)];
        self.store.similarities(self.embedder.name(), &nothing, &[]).await?;
        self.store.outlines(&[]).await?;
        Ok(())
    }

    /// Returns the number of messages that have no embedding yet.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn waiting(&self) -> Result<u64, RecallError> {
        Ok(self.store.unembedded_count(SubjectKind::Message, &self.embeddable()).await?)
    }

    /// Returns the number of messages and chunks of documents that have no embedding yet.
    pub(crate) async fn count_unembedded(&self) -> Result<u64, RecallError> {
        let chunks = self.store.unembedded_count(SubjectKind::Chunk, &self.embeddable()).await?;
        Ok(self.waiting().await? + chunks)
    }

    /// Embeds the messages of one exchange, right after it was committed, so that the next prompt can find them.
    /// Returns the number of messages.
    ///
    /// # Errors
    ///
    /// Fails if the embedding model or the store does; no vector of the exchange is stored then.
    pub async fn embed_exchange(&self, exchange: ExchangeId) -> Result<usize, RecallError> {
        self.embed(&self.store.unembedded_of(exchange, &self.embeddable()).await?).await
    }

    /// Embeds a few messages that were left without an embedding by a failure or a crash. Returns their number.
    ///
    /// # Errors
    ///
    /// Fails if the embedding model or the store does.
    pub async fn catch_up(&self) -> Result<usize, RecallError> {
        match self.waiting().await? {
            0 => Ok(0),
            _ => self.embed(&self.store.unembedded(&self.embeddable(), AFTER_A_TURN).await?).await,
        }
    }

    /// Embeds texts and stores their vectors. Returns the number of texts.
    ///
    /// # Errors
    ///
    /// Fails if the embedding model or the store does.
    pub async fn embed(&self, waiting: &[Unembedded]) -> Result<usize, RecallError> {
        let (chunks, others): (Vec<&Unembedded>, Vec<&Unembedded>) =
            waiting.iter().partition(|text| text.subject.kind == SubjectKind::Chunk);
        self.embed_whole(&others).await?;
        self.embed_chunks(&chunks).await?;
        Ok(waiting.len())
    }

    /// A vector for each text.
    async fn embed_whole(&self, waiting: &[&Unembedded]) -> Result<(), RecallError> {
        let texts: Vec<String> =
            waiting.iter().map(|text| self.fit_to_send(titled(text, &text.text))).collect();
        let vectors = self.vectors_of(&texts, waiting).await?;
        let embeddings: Vec<NewEmbedding> = waiting
            .iter()
            .zip(vectors)
            .map(|(unembedded, vector)| NewEmbedding {
                subject: unembedded.subject,
                vector,
                text: unembedded.text.clone(),
            })
            .collect();
        if !embeddings.is_empty() {
            self.store.put_embeddings(self.embedder.name(), &embeddings).await?;
        }
        Ok(())
    }

    /// A vector for each part of each chunk.
    async fn embed_chunks(&self, waiting: &[&Unembedded]) -> Result<(), RecallError> {
        let parts: Vec<Vec<Range<usize>>> =
            waiting.iter().map(|chunk| self.parts(&chunk.text, &title_of(chunk))).collect();
        let mut texts = Vec::new();
        for (chunk, parts) in waiting.iter().zip(&parts) {
            texts.extend(parts.iter().map(|part| self.fit_to_send(titled(chunk, &chunk.text[part.clone()]))));
        }
        let mut vectors = self.vectors_of(&texts, waiting).await?.into_iter();
        let chunks: Vec<ChunkVectors> = waiting
            .iter()
            .zip(parts)
            .map(|(chunk, parts)| ChunkVectors {
                chunk_id: ChunkId::new(chunk.subject.id),
                parts: parts.into_iter().zip(vectors.by_ref()).collect(),
            })
            .collect();
        if !chunks.is_empty() {
            self.store.put_chunk_vectors(self.embedder.name(), &chunks).await?;
        }
        Ok(())
    }

    /// The vectors of texts, paid for.
    async fn vectors_of(
        &self,
        texts: &[String],
        about: &[&Unembedded],
    ) -> Result<Vec<Vec<f32>>, RecallError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let embedded = self.embedder.embed(texts, EmbedTask::Document).await?;
        let first = about.first().and_then(|text| text.conversation_id);
        let common = first.filter(|id| about.iter().all(|text| text.conversation_id == Some(*id)));
        self.note_cost(Purpose::Embedding, embedded.usage, common).await?;
        Ok(embedded.vectors)
    }

    /// The parts of a text that the model reads one by one, each with `title` before it. There is always one.
    pub(crate) fn parts(&self, text: &str, title: &str) -> Vec<Range<usize>> {
        let taken = self.embedder.count(title);
        let tokens = self.embedder.reads().saturating_sub(taken).max(self.embedder.reads() / 2);
        let count = |text: &str| self.embedder.count(text);
        let parts = chunk_by(text, ChunkSize { tokens, overlap: 0 }, &count);
        if parts.is_empty() {
            std::iter::once(0..text.len()).collect()
        } else {
            parts.into_iter().map(|span| span.new).collect()
        }
    }

    /// A text as it may leave this machine, if it does: without secrets, and not longer than a model takes.
    pub(crate) fn fit_to_send(&self, text: String) -> String {
        if self.embedder.is_local() {
            return text;
        }
        let mut text = without_secrets(&text).into_owned();
        if text.len() > MOST_SENT && count_tokens(&text) > self.embedder.reads() {
            text.truncate(text.floor_char_boundary(MOST_SENT));
        }
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

/// A text with who said it, or what it is part of.
fn titled(of: &Unembedded, text: &str) -> String {
    format!("{}{text}", title_of(of))
}

/// What stands before a text. A long title would take the place of what it is the title of.
fn title_of(of: &Unembedded) -> String {
    let Some(title) = &of.author else { return String::new() };
    let short: String = title.chars().take(LONGEST_TITLE).collect();
    format!("{short}: ")
}
