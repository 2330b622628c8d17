//! Redaction for searches, embeddings and documents.

use memoir_core::{
    Chunk, ChunkId, ConversationId, Document, DocumentId, ExchangeId, MessageId, Subject, SubjectKind,
    Timestamp,
};

use super::{delegate, findings::Findings};
use crate::{
    ChunkMatch, ChunkSearch, ChunkVectors, Chunker, ChunksWithWord, DocumentFilter, DocumentUpdate,
    EmbeddingCount, EmbeddingSelection, ExchangeText, Match, MessageOutline, MessagePart, NewDocument,
    NewEmbedding, Result, SummaryMatch, UnembeddedText, VectorSearch, WordSearch, WordSearchResult,
};

delegate! { Memory {
    fn nearest(search: &VectorSearch<'_>) -> Vec<Match>;
    fn nearest_summaries(search: &VectorSearch<'_>) -> Vec<SummaryMatch>;
    fn similarities(model: &str, vector: &[f32], conversations: &[ConversationId]) -> Vec<Match>;
    fn nearest_parts(model: &str, vector: &[f32], messages: &[MessageId]) -> Vec<MessagePart>;
    fn search_words(search: &WordSearch<'_>) -> WordSearchResult;
    fn outlines(conversations: &[ConversationId]) -> Vec<MessageOutline>;
    fn embedded_count(model: &str) -> u64;
    fn outlines_between(start: Timestamp, end: Timestamp) -> Vec<MessageOutline>;
    fn committed_before(exchanges: &[ExchangeId], before: ExchangeId) -> Vec<ExchangeId>;
    fn exchange_texts(exchanges: &[ExchangeId]) -> Vec<ExchangeText>;
    fn texts(messages: &[MessageId]) -> Vec<(MessageId, String)>;
    fn familiar_words(words: &[String]) -> Vec<bool>;
    fn authors() -> Vec<String>;
} }

delegate! { Embeddings {
    fn unembedded(embeddable: &EmbeddingSelection<'_>, limit: u32) -> Vec<UnembeddedText>;
    fn unembedded_in_exchange(exchange: ExchangeId, embeddable: &EmbeddingSelection<'_>) -> Vec<UnembeddedText>;
    fn embeddable_texts(subjects: &[Subject]) -> Vec<UnembeddedText>;
    fn put_embeddings(model: &str, embeddings: &[NewEmbedding]) -> ();
    fn unembedded_count(kind: SubjectKind, embeddable: &EmbeddingSelection<'_>) -> u64;
    fn embedding_counts() -> Vec<EmbeddingCount>;
    fn delete_embeddings() -> u64;
} }

delegate! { Documents {
    fn documents() -> Vec<Document>;
    fn document(name: &str) -> Option<Document>;
    fn is_from_other_project(id: DocumentId, scope: &str) -> bool;
    fn is_document_visible(id: DocumentId, project: &str) -> bool;
    fn set_document_shared(id: DocumentId, is_shared: bool) -> bool;
    fn set_document_project(id: DocumentId, project: &str) -> ();
    fn documents_like(hash: &str, source: &str) -> Vec<Document>;
    fn documents_by_id(ids: &[DocumentId]) -> Vec<Document>;
    fn move_document(id: DocumentId, source: &str) -> ();
    fn document_chunks(id: DocumentId) -> Vec<Chunk>;
    fn chunks(ids: &[ChunkId]) -> Vec<Chunk>;
    fn delete_document(id: DocumentId) -> bool;
    fn unembedded_chunk_count(id: DocumentId, model: &str) -> u64;
    fn delete_chunk_vectors(id: DocumentId) -> u64;
    fn put_chunk_vectors(model: &str, vectors: &[ChunkVectors]) -> ();
    fn nearest_chunks(search: &ChunkSearch<'_>) -> Vec<ChunkMatch>;
    fn chunks_with_words(words: &[String], filter: &DocumentFilter) -> (Vec<ChunksWithWord>, u64);
} clean {
    async fn put_document(&self, new: &NewDocument, chunk: &Chunker, now: Timestamp) -> Result<DocumentUpdate> {
        let mut findings = Findings::new(self.allowed());
        let mut clean = |text: &str| findings.clean("document", text).into_owned();
        let clean = NewDocument {
            text: clean(&new.text),
            title: clean(&new.title),
            slug: clean(&new.slug),
            tags: new.tags.iter().map(|tag| clean(tag)).collect(),
            date: new.date.clone(),
            kind: new.kind,
            source: new.source.clone(),
            hash: new.hash.clone(),
            written_from: new.written_from.clone(),
        };
        self.inner.put_redacted_document(&clean, &findings.into_redactions(), chunk, now).await
    }
} }
