//! Documents: texts that the user gave to remember, and posts that were written from talk.

use serde::Serialize;

use crate::{ChunkId, DocumentId, Timestamp};

/// What kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// A file that the user gave.
    File,
    /// A post that was written from talk.
    Post,
}

impl DocumentKind {
    /// The word the store keeps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Post => "post",
        }
    }
}

/// A document, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// Its short name, of which there is only one.
    pub slug: String,
    /// What it is called.
    pub title: String,
    /// The day it is of, as in 2026-05-01.
    pub date: String,
    /// What it is filed under.
    pub tags: Vec<String>,
    /// What kind it is.
    pub kind: DocumentKind,
    /// The file that it is in.
    pub source: String,
    /// A sum over that file.
    pub hash: String,
    /// How many chunks it has.
    pub chunks: u64,
    /// How many tokens they have.
    pub tokens: u64,
    /// When it was last read.
    pub updated: Timestamp,
}

/// A stretch of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chunk {
    /// Its id.
    pub id: ChunkId,
    /// Its document.
    pub document_id: DocumentId,
    /// The how manieth of it, from 0.
    pub position: u64,
    /// What it says.
    pub text: String,
    /// So many bytes at its beginning are the end of the chunk before.
    pub overlap: usize,
    /// How many tokens it has.
    pub tokens: u64,
}

/// A part of a document that is relevant now, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentPassage {
    /// The chunk that it is in.
    pub chunk_id: ChunkId,
    /// The document.
    pub document: Document,
    /// The part that matters, cut around what is asked.
    pub text: String,
    /// How relevant it is; higher is more.
    pub score: f64,
    /// How near it is in meaning: a cosine.
    pub similarity: f64,
    /// How much of the question's words it has: 0 to 1.
    pub coverage: f64,
    /// The room that it takes in a request.
    pub tokens: u64,
}
