//! Documents: filing them in chunks, finding chunks by meaning and by words.

use std::ops::Range;

use async_trait::async_trait;
use memoir_core::{Chunk, ChunkId, ConversationId, Document, DocumentId, DocumentKind, Timestamp};

use crate::{Result, SearchEffort};

/// A document to be filed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    /// Its short name. Where another has it, a number is added.
    pub slug: String,
    /// What it is called.
    pub title: String,
    /// The day it is of, as in 2026-05-01.
    pub date: String,
    /// What it is filed under.
    pub tags: Vec<String>,
    /// What kind it is.
    pub kind: DocumentKind,
    /// The file that it is in. A document from the same file takes the earlier one's place.
    pub source: String,
    /// A sum over that file.
    pub hash: String,
    /// What it says.
    pub text: String,
    /// The conversations that it was written from.
    pub written_from: Vec<ConversationId>,
}

/// Where a chunk stands in its document's text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkSpan {
    /// What is new in it. These ranges follow each other without a gap.
    pub new: Range<usize>,
    /// So many bytes before that are repeated at its beginning.
    pub overlap: usize,
    /// How many tokens it has.
    pub tokens: u64,
}

/// Cuts a text into chunks.
pub type Chunker = dyn Fn(&str) -> Vec<ChunkSpan> + Send + Sync;

/// What came of filing a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filed {
    /// The document.
    pub id: DocumentId,
    /// How many chunks were added: those that were there already are left as they are, with their vectors.
    pub added: u64,
    /// How many were deleted.
    pub deleted: u64,
}

/// The vectors of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkVectors {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Its parts: where each stands in its text, and its vector, of length one.
    pub parts: Vec<(Range<usize>, Vec<f32>)>,
}

/// Which documents may be found. It is part of a search: what it refuses takes no one's place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// None from before this day.
    pub since: Option<String>,
    /// None from this day on.
    pub until: Option<String>,
    /// No posts that were written from the talk of another project.
    pub scope: Option<String>,
}

impl DocumentFilter {
    /// Whether it refuses nothing.
    pub fn allows_all(&self) -> bool {
        *self == Self::default()
    }
}

/// A search for the chunks nearest in meaning.
#[derive(Debug, Clone, Copy)]
pub struct ChunkSearch<'a> {
    /// Whose vectors.
    pub model: &'a str,
    /// What they should be near to: a vector of length one.
    pub vector: &'a [f32],
    /// How much work to put into it.
    pub effort: SearchEffort,
    /// What may be found.
    pub filter: &'a DocumentFilter,
    /// How many chunks are wanted.
    pub limit: usize,
}

/// A chunk and how well it matches.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkMatch {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Its document.
    pub document_id: DocumentId,
    /// The part of it that matches best, in bytes of its text.
    pub part: Range<usize>,
    /// The vector of that part.
    pub vector: Vec<f32>,
    /// Higher is better.
    pub score: f64,
}

/// The chunks that have a word, each with how often; nothing of a word that very many have.
pub type ChunksWithWord = Option<Vec<(ChunkId, u32)>>;

/// Keeping documents and finding what is in them.
#[async_trait]
pub trait Documents: Send + Sync {
    /// Stores a document, replacing an earlier one from the same file. `chunk` cuts its text as it is stored, without
    /// secrets.
    async fn put_document(&self, new: &NewDocument, chunk: &Chunker, now: Timestamp) -> Result<Filed>;

    /// All documents, the newest first.
    async fn documents(&self) -> Result<Vec<Document>>;

    /// The document with this slug, or this id.
    async fn document(&self, name: &str) -> Result<Option<Document>>;

    /// The documents that have this hash or come from this file.
    async fn documents_like(&self, hash: &str, source: &str) -> Result<Vec<Document>>;

    /// Some documents.
    async fn documents_by_id(&self, ids: &[DocumentId]) -> Result<Vec<Document>>;

    /// Notes that a document's file is elsewhere now: a file of the user's, whatever it was before.
    async fn move_document(&self, id: DocumentId, source: &str) -> Result<()>;

    /// The chunks of a document, in order.
    async fn chunks_of(&self, id: DocumentId) -> Result<Vec<Chunk>>;

    /// Some chunks.
    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>>;

    /// Deletes a document with everything derived from it. Says whether it was there.
    async fn delete_document(&self, id: DocumentId) -> Result<bool>;

    /// Deletes the vectors of a document, so that they are made anew. Says how many there were.
    async fn delete_chunk_vectors(&self, id: DocumentId) -> Result<u64>;

    /// Keeps vectors of `model`, all of them or none; the work is done with that. Of a chunk that is gone, or has vectors, none
    /// are kept.
    async fn put_chunk_vectors(&self, model: &str, vectors: &[ChunkVectors]) -> Result<()>;

    /// The chunks nearest in meaning, by cosine, each by its best part, best first.
    async fn nearest_chunks(&self, search: &ChunkSearch<'_>) -> Result<Vec<ChunkMatch>>;

    /// For each of some words, in order, the chunks that have it; and about how many chunks there are.
    async fn chunks_with_words(
        &self,
        words: &[String],
        filter: &DocumentFilter,
    ) -> Result<(Vec<ChunksWithWord>, u64)>;
}
