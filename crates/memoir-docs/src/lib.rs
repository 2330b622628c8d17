//! Adds documents to the memory and writes posts from conversations.
//!
//! [`Library`] stores text files as documents, split into chunks, and detects which files have changed. [`Writer`]
//! turns a conversation into a post that refers to earlier posts. A post is itself stored as a document, so later
//! posts can refer to it.

mod error;
mod extract;
mod files;
mod front_matter;
mod library;
mod outcome;
mod post;
mod quotation;
mod writer;

pub use error::{FileFault, LibraryError};
pub use extract::PDF_THREAD;
pub use files::{FileSelection, select_files};
pub use front_matter::{FrontMatter, FrontMatterError, slugify};
pub use library::{Library, remove_post_file};
pub use outcome::{AddCounts, AddOutcome, AddedFile};
pub use post::{Post, PostDraft, PostMaterial, SaveError};
pub use writer::{Writer, WriterError, count_request_tokens};
