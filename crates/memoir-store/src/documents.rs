//! Documents, which are stored in chunks that can be searched by meaning and by keyword.

use std::ops::Range;

use async_trait::async_trait;
use memoir_core::{Chunk, ChunkId, ConversationId, Document, DocumentId, DocumentKind, Timestamp};

use crate::{Result, SearchEffort};

/// A document to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    /// Short name. If another document has the same name, a number is appended.
    pub slug: String,
    /// Title of the document.
    pub title: String,
    /// Date of the document, as `2026-05-01`.
    pub date: String,
    /// Tags of the document.
    pub tags: Vec<String>,
    /// Whether the document is a file or a post.
    pub kind: DocumentKind,
    /// Path of the document's file. A document with the same path replaces the earlier one.
    pub source: String,
    /// Hash of the file.
    pub hash: String,
    /// Text of the document.
    pub text: String,
    /// Conversations that a post was written from.
    pub written_from: Vec<ConversationId>,
}

/// A chunk's position in its document's text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkSpan {
    /// The chunk's range without its overlap. The ranges of consecutive chunks are contiguous.
    pub new: Range<usize>,
    /// Number of bytes before `new` that the chunk repeats from the previous chunk.
    pub overlap: usize,
    /// Number of tokens in the chunk.
    pub tokens: u64,
}

/// A function that splits a text into chunks.
pub type Chunker = dyn Fn(&str) -> Vec<ChunkSpan> + Send + Sync;

/// The result of storing a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentUpdate {
    /// Id of the document.
    pub id: DocumentId,
    /// Number of chunks added. Unchanged chunks keep their embeddings and are not counted.
    pub added: u64,
    /// Number of chunks deleted.
    pub deleted: u64,
}

/// The embeddings of a chunk, one for each of its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkVectors {
    /// Id of the chunk.
    pub chunk_id: ChunkId,
    /// Byte range of each part in the chunk's text, and its embedding, normalized to length 1.
    pub parts: Vec<(Range<usize>, Vec<f32>)>,
}

/// Restricts a search of documents. Applied before ranking, so filtered-out chunks never use up the result limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// First date, inclusive, as in `2026-05-01`.
    pub since: Option<String>,
    /// Last date, exclusive, in the same format.
    pub until: Option<String>,
    /// Exclude posts written from conversations of other projects.
    pub scope: Option<String>,
    /// Only what a program that works for this project may see: files in the project, posts written from conversations
    /// that it may see, and documents that the user shares.
    pub visible_to: Option<String>,
}

impl DocumentFilter {
    /// Returns whether the filter excludes nothing.
    pub fn allows_all(&self) -> bool {
        *self == Self::default()
    }
}

/// A search for the chunks nearest in meaning.
#[derive(Debug, Clone, Copy)]
pub struct ChunkSearch<'a> {
    /// Embedding model whose embeddings to search.
    pub model: &'a str,
    /// Query vector, normalized to length 1.
    pub vector: &'a [f32],
    /// Hints on speed and accuracy.
    pub effort: SearchEffort,
    /// Which chunks may be results. The default allows all.
    pub filter: &'a DocumentFilter,
    /// Maximum number of chunks.
    pub limit: usize,
}

/// A chunk that matches a search.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkMatch {
    /// Id of the chunk.
    pub chunk_id: ChunkId,
    /// Document of the chunk.
    pub document_id: DocumentId,
    /// Byte range of the best-matching part in the chunk's text.
    pub part: Range<usize>,
    /// Embedding of that part.
    pub vector: Vec<f32>,
    /// Score of the match; higher is better.
    pub score: f64,
}

/// The chunks that contain a word and how often each does, or `None` if the word is too common to be useful.
pub type ChunksWithWord = Option<Vec<(ChunkId, u32)>>;

/// Stores and searches documents.
#[async_trait]
pub trait Documents: Send + Sync {
    /// Stores a document, replacing an earlier one from the same file. `chunk` splits the text after secrets have been
    /// redacted.
    async fn put_document(
        &self,
        new: &NewDocument,
        chunk: &Chunker,
        now: Timestamp,
    ) -> Result<DocumentUpdate>;

    /// Returns all documents, newest first.
    async fn documents(&self) -> Result<Vec<Document>>;

    /// Returns the document with this slug or id.
    async fn document(&self, name: &str) -> Result<Option<Document>>;

    /// Returns whether a document is a post written, at least in part, from conversations of other projects.
    async fn is_from_other_project(&self, id: DocumentId, scope: &str) -> Result<bool>;

    /// Returns whether a program that works for `project` may see a document, as with [`DocumentFilter::visible_to`].
    async fn is_document_visible(&self, id: DocumentId, project: &str) -> Result<bool>;

    /// Sets the project of a file.
    async fn set_document_project(&self, id: DocumentId, project: &str) -> Result<()>;

    /// Shares a document with programs that work for any project, or stops that. Returns whether the document exists.
    async fn set_document_shared(&self, id: DocumentId, is_shared: bool) -> Result<bool>;

    /// Returns the documents that have this hash or come from this file.
    async fn documents_like(&self, hash: &str, source: &str) -> Result<Vec<Document>>;

    /// Returns the documents with these ids.
    async fn documents_by_id(&self, ids: &[DocumentId]) -> Result<Vec<Document>>;

    /// Changes the path of a document's file. The document becomes a [`DocumentKind::File`], even if it was a post.
    async fn move_document(&self, id: DocumentId, source: &str) -> Result<()>;

    /// Returns the chunks of a document, in order.
    async fn document_chunks(&self, id: DocumentId) -> Result<Vec<Chunk>>;

    /// Returns the chunks with these ids.
    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>>;

    /// Deletes a document with everything derived from it. Returns whether it existed.
    async fn delete_document(&self, id: DocumentId) -> Result<bool>;

    /// Returns the number of chunks of a document without an embedding of `model`.
    async fn unembedded_chunk_count(&self, id: DocumentId, model: &str) -> Result<u64>;

    /// Deletes the embeddings of a document so that they are recomputed. Returns the number deleted.
    async fn delete_chunk_vectors(&self, id: DocumentId) -> Result<u64>;

    /// Stores embeddings of `model` and completes their jobs, in one transaction. Embeddings of deleted chunks, and of
    /// chunks that already have some, are dropped.
    async fn put_chunk_vectors(&self, model: &str, vectors: &[ChunkVectors]) -> Result<()>;

    /// Returns the nearest chunks by cosine similarity, each scored by its best part, best first.
    async fn nearest_chunks(&self, search: &ChunkSearch<'_>) -> Result<Vec<ChunkMatch>>;

    /// Returns the chunks that contain each word, in the order of `words`, and the approximate number of chunks in
    /// total.
    async fn chunks_with_words(
        &self,
        words: &[String],
        filter: &DocumentFilter,
    ) -> Result<(Vec<ChunksWithWord>, u64)>;
}
