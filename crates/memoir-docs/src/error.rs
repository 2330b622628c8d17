//! Errors of the library.

use std::{io, path::PathBuf};

use memoir_recall::RecallError;
use memoir_store::StoreError;

use crate::front_matter::FrontMatterError;

/// Reason why a document could not be added, changed or removed.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// A problem with one file, which does not affect other files.
    #[error("{}: {reason}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Problem with the file.
        reason: FileFault,
    },
    /// The store returned an error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The chunks could not be embedded.
    #[error(transparent)]
    Recall(#[from] RecallError),
}

/// Problem with a file or a directory.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// The file could not be read.
    #[error("{}", describe_io(.0))]
    Io(#[from] io::Error),
    /// The file could not be deleted.
    #[error(transparent)]
    NotDeleted(io::Error),
    /// The directory contains no text files.
    #[error("it contains no text files (.{})", extensions.join(", ."))]
    NoTexts {
        /// File name extensions of text files.
        extensions: &'static [&'static str],
    },
    /// Part of the directory could not be listed.
    #[error("part of it could not be listed: {}", describe_walk(.0))]
    Unlisted(ignore::Error),
    /// The path is neither a file nor a directory.
    #[error("it is not a regular file")]
    NotAFile,
    /// The file is too large.
    #[error("it is larger than {} MB", limit / 1024 / 1024)]
    TooLarge {
        /// Maximum size in bytes.
        limit: u64,
    },
    /// The file is not UTF-8 text.
    #[error("it is not text (UTF-8)")]
    NotUtf8,
    /// The PDF file could not be read.
    #[error("it could not be read as PDF: {0}")]
    Pdf(String),
    /// The file made the program that reads it fail.
    #[error("it is damaged")]
    Damaged,
    /// The elements of an HTML file are in too many others.
    #[error("its elements are nested too deeply")]
    TooDeep,
    /// The pages of a PDF file are images.
    #[error(
        "its pages have no text; they may be scans. Convert it with a program for text recognition first"
    )]
    NoTextInPdf,
    /// The file is empty or contains only whitespace.
    #[error("it is empty")]
    Empty,
    /// The front matter could not be parsed.
    #[error(transparent)]
    FrontMatter(#[from] FrontMatterError),
}

fn describe_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "file not found".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

fn describe_walk(error: &ignore::Error) -> String {
    error.io_error().map_or_else(|| error.to_string(), describe_io)
}
