//! Documents: files the user added to memory, and posts written from conversations.

use serde::Serialize;

use crate::{ChunkId, DocumentId, Timestamp};

/// The kind of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// A file the user added.
    File,
    /// A post written from conversations.
    Post,
}

impl DocumentKind {
    /// Returns the stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Post => "post",
        }
    }
}

/// The metadata of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Document {
    /// Id, which stays the same when the file is read again.
    pub id: DocumentId,
    /// Unique short name: lowercase words with hyphens, from the front matter or the title.
    pub slug: String,
    /// Title from the front matter, the first heading or the file name.
    pub title: String,
    /// Date of the document, as in `2026-05-01`.
    pub date: String,
    /// Tags the document is filed under.
    pub tags: Vec<String>,
    /// Whether it is a file or a post.
    pub kind: DocumentKind,
    /// Path of the file that contains the text.
    pub source: String,
    /// Hash of that file.
    pub hash: String,
    /// Number of chunks that the text was split into.
    pub chunks: u64,
    /// Number of tokens in all chunks.
    pub tokens: u64,
    /// When the file was last read.
    pub updated: Timestamp,
    /// Whether the user lets programs that work for any project see it.
    pub is_shared: bool,
    /// Project of the file. `None` for a post, or if it has not been determined yet.
    pub project: Option<String>,
}

/// A section of a document, small enough to embed and quote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chunk {
    /// Id, which stays the same until the text of the chunk changes.
    pub id: ChunkId,
    /// Document that contains the chunk.
    pub document_id: DocumentId,
    /// Zero-based position in the document.
    pub position: u64,
    /// Text of the chunk.
    pub text: String,
    /// Number of leading bytes that repeat the end of the previous chunk.
    pub overlap: usize,
    /// Number of tokens in the text.
    pub tokens: u64,
}

/// A passage of a document that is relevant to a question, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentPassage {
    /// Chunk that contains the passage.
    pub chunk_id: ChunkId,
    /// Document that contains the chunk.
    pub document: Document,
    /// Excerpt of the chunk around the part relevant to the question.
    pub text: String,
    /// Relevance; higher is better.
    pub score: f64,
    /// Cosine similarity to the question's embedding.
    pub similarity: f64,
    /// Weighted fraction of the question's words that it contains, from 0 to 1.
    pub coverage: f64,
    /// Number of tokens it uses in a request.
    pub tokens: u64,
}
