//! Embedding messages, summaries and document chunks.

use std::ops::Range;

use memoir_core::{CallCost, ChunkId, ConversationId, ExchangeId, Purpose, SubjectKind, Usage, count_tokens};
use memoir_models::EmbedTask;
use memoir_redact::without_secrets;
use memoir_store::{ChunkVectors, EmbeddingSelection, Filter, NewEmbedding, UnembeddedText};

use crate::{ChunkSize, Inquiry, ParsedQuestion, QueryKind, Recall, RecallError, chunk::chunk_by};

/// Minimum number of tokens in a message that gets an embedding. Shorter ones ("ok", "thanks") carry no meaning.
const MIN_TOKENS: u32 = 5;

/// Number of texts embedded at a time.
pub const EMBED_BATCH_SIZE: u32 = 100;

/// Number of overdue messages to embed after a turn, few enough to cause no noticeable delay.
const CATCH_UP_BATCH: u32 = 8;

/// Length in bytes to which a text is truncated if it exceeds the token limit of a remote model. A token has at least
/// one byte, and models read about 8000 tokens.
const MAX_SENT_BYTES: usize = 8000;

/// Maximum number of embeddings of a message. The end of a longer one, usually a pasted log, is found by its words.
const MAX_MESSAGE_PARTS: usize = 64;

/// Number of tokens in a part of a long message. The embedding of a longer part says too little about each sentence.
const PART_TOKENS: usize = 128;

/// Maximum length of the title in front of a text, in characters.
const MAX_TITLE_CHARS: usize = 100;

impl Recall {
    /// Returns the criteria for texts that need an embedding from the current model.
    pub fn embeddable(&self) -> EmbeddingSelection<'_> {
        EmbeddingSelection { model: self.embedder.name(), min_tokens: MIN_TOKENS }
    }

    /// Loads the search index into memory, so that the first question does not have to wait for it.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn warm_up(&self) -> Result<(), RecallError> {
        match self.embedder.dimensions() {
            Some(dimensions) => {
                self.store.similarities(self.embedder.name(), &vec![0.0; dimensions], &[]).await?;
            }
            None => {
                self.store.outlines(&[]).await?;
            }
        }
        Ok(())
    }

    /// Loads what a question needs besides the index: its embedding, and its words. A process that has just started can
    /// do it while it loads the index.
    pub async fn prepare(&self, text: &str) {
        let mut inquiry = Inquiry::new(text, QueryKind::Prompt, Filter::default());
        inquiry.question = ParsedQuestion::parse(&inquiry.text, &[], &[], self.clock.now(), &self.zone);
        if inquiry.asks_nothing() {
            return;
        }
        let words = async { Ok(self.store.familiar_words(&inquiry.question.words).await?) };
        if let Err(error) = tokio::try_join!(self.embed_query(inquiry.text_to_embed()), words) {
            // The stages report it.
            tracing::debug!(%error, "could not prepare for a question");
        }
    }

    /// Returns whether a prompt only greets, thanks or agrees, so that nothing is searched for.
    pub fn is_idle(&self, prompt: &str) -> bool {
        ParsedQuestion::parse(prompt, &[], &[], self.clock.now(), &self.zone).is_idle
    }

    /// Returns the number of messages that have no embedding yet.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn count_unembedded_messages(&self) -> Result<u64, RecallError> {
        Ok(self.store.unembedded_count(SubjectKind::Message, &self.embeddable()).await?)
    }

    /// Returns the number of messages and document chunks that have no embedding yet.
    pub(crate) async fn count_unembedded(&self) -> Result<u64, RecallError> {
        let chunks = self.store.unembedded_count(SubjectKind::Chunk, &self.embeddable()).await?;
        Ok(self.count_unembedded_messages().await? + chunks)
    }

    /// Embeds the messages of an exchange right after its commit, so that the next prompt can recall them. Returns the
    /// number of messages.
    ///
    /// # Errors
    ///
    /// Fails if the embedding model or the store does. No embedding of the exchange is stored in that case.
    pub async fn embed_exchange(&self, exchange: ExchangeId) -> Result<usize, RecallError> {
        self.embed(&self.store.unembedded_in_exchange(exchange, &self.embeddable()).await?).await
    }

    /// Embeds a few messages that have no embedding because of an earlier failure or crash. Returns their number.
    ///
    /// # Errors
    ///
    /// Fails if the embedding model or the store does.
    pub async fn catch_up(&self) -> Result<usize, RecallError> {
        match self.count_unembedded_messages().await? {
            0 => Ok(0),
            _ => self.embed(&self.store.unembedded(&self.embeddable(), CATCH_UP_BATCH).await?).await,
        }
    }

    /// Embeds texts and stores the embeddings, one for each part that the model can read. Returns the number of texts.
    ///
    /// # Errors
    ///
    /// Fails if the embedding model or the store does.
    pub async fn embed(&self, texts: &[UnembeddedText]) -> Result<usize, RecallError> {
        let ranges: Vec<Vec<Range<usize>>> = texts.iter().map(|text| self.split_into_parts(text)).collect();
        let titled = texts.iter().zip(&ranges).flat_map(|(text, ranges)| {
            ranges.iter().map(|range| self.prepare_to_send(add_title(text, &text.text[range.clone()])))
        });
        let mut vectors = self.embed_texts(&titled.collect::<Vec<_>>(), texts).await?.into_iter();
        let (mut chunks, mut others) = (Vec::new(), Vec::new());
        for (text, ranges) in texts.iter().zip(ranges) {
            let parts = ranges.into_iter().zip(vectors.by_ref()).collect();
            if text.subject.kind == SubjectKind::Chunk {
                chunks.push(ChunkVectors { chunk_id: ChunkId::new(text.subject.id), parts });
            } else {
                others.push(NewEmbedding { subject: text.subject, parts, text: text.text.clone() });
            }
        }
        if !others.is_empty() {
            self.store.put_embeddings(self.embedder.name(), &others).await?;
        }
        if !chunks.is_empty() {
            self.store.put_chunk_vectors(self.embedder.name(), &chunks).await?;
        }
        Ok(texts.len())
    }

    /// Returns the parts of a text that are embedded separately. Summaries are short, and a long message has a limited
    /// number of parts.
    fn split_into_parts(&self, text: &UnembeddedText) -> Vec<Range<usize>> {
        match text.subject.kind {
            SubjectKind::Chunk => self.split_for_model(&text.text, &title_prefix(text)),
            SubjectKind::Message => self.split_message(text),
            SubjectKind::Exchange | SubjectKind::Conversation | SubjectKind::Digest => {
                std::iter::once(0..text.text.len()).collect()
            }
        }
    }

    /// Returns the whole of a message that the model can read, or the parts of a longer one.
    fn split_message(&self, message: &UnembeddedText) -> Vec<Range<usize>> {
        let title = title_prefix(message);
        let tokens = self.embedder.count_tokens(&title) + self.embedder.count_tokens(&message.text);
        // A remote model reads long texts, and secrets are recognized in the whole text.
        if tokens <= self.embedder.max_tokens() || !self.embedder.is_local() {
            return std::iter::once(0..message.text.len()).collect();
        }
        let size = self.embedder.max_tokens().min(PART_TOKENS);
        let mut parts = self.split_by_tokens(&message.text, &title, size);
        parts.truncate(MAX_MESSAGE_PARTS);
        parts
    }

    /// Embeds texts and records the cost. The cost is assigned to the conversation of `subjects` if they share one.
    async fn embed_texts(
        &self,
        texts: &[String],
        subjects: &[UnembeddedText],
    ) -> Result<Vec<Vec<f32>>, RecallError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let embedded = self.embedder.embed(texts, EmbedTask::Document).await?;
        let first = subjects.first().and_then(|subject| subject.conversation_id);
        let common = first.filter(|id| subjects.iter().all(|subject| subject.conversation_id == Some(*id)));
        self.record_cost(Purpose::Embedding, embedded.usage, common).await?;
        Ok(embedded.vectors)
    }

    /// Splits a text into parts that fit into the embedding model, each with `title` in front. Returns at least one
    /// part.
    pub(crate) fn split_for_model(&self, text: &str, title: &str) -> Vec<Range<usize>> {
        self.split_by_tokens(text, title, self.embedder.max_tokens())
    }

    /// Splits a text into parts of this many tokens, each with `title` in front. Returns at least one part.
    fn split_by_tokens(&self, text: &str, title: &str, max_tokens: usize) -> Vec<Range<usize>> {
        let title_tokens = self.embedder.count_tokens(title);
        let tokens = max_tokens.saturating_sub(title_tokens).max(max_tokens / 2);
        let count = |text: &str| self.embedder.count_tokens(text);
        let parts = chunk_by(text, ChunkSize { tokens, overlap: 0 }, &count);
        if parts.is_empty() {
            std::iter::once(0..text.len()).collect()
        } else {
            parts.into_iter().map(|span| span.new).collect()
        }
    }

    /// Redacts and truncates a text if the embedding model is remote.
    pub(crate) fn prepare_to_send(&self, text: String) -> String {
        if self.embedder.is_local() {
            return text;
        }
        let mut text = without_secrets(&text).into_owned();
        if text.len() > MAX_SENT_BYTES && count_tokens(&text) > self.embedder.max_tokens() {
            text.truncate(text.floor_char_boundary(MAX_SENT_BYTES));
        }
        text
    }

    /// Records the cost of a call to a remote embedding model.
    pub(crate) async fn record_cost(
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

/// Puts the subject's author or title in front of a text.
fn add_title(subject: &UnembeddedText, text: &str) -> String {
    format!("{}{text}", title_prefix(subject))
}

/// Returns the text's author or title followed by a colon. A long title is truncated so that it does not displace the
/// text.
fn title_prefix(subject: &UnembeddedText) -> String {
    let Some(title) = &subject.author else { return String::new() };
    let title: String = title.chars().take(MAX_TITLE_CHARS).collect();
    format!("{title}: ")
}
