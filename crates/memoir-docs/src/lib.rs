//! Documents and the writer.
//!
//! [`Library`] files texts that the user gives to remember, in chunks, and knows which of them have changed. [`Writer`] turns talk
//! into a post that refers to what was written before, and files it as a document, so that the next one can refer to it.

mod front_matter;
mod library;
mod quotation;
mod writer;

pub use front_matter::{FrontMatter, slug_of};
pub use library::{Added, Files, Library, LibraryError, Outcome, files, remove_post_file};
pub use writer::{Draft, Material, Post, Writer, WriterError, size};
