//! What can go wrong with a document.

use std::{io, path::PathBuf};

use memoir_recall::RecallError;
use memoir_store::StoreError;

use crate::front_matter::FrontMatterError;

/// Why a document could not be added, changed or removed.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// One file is at fault; others may be fine.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: FileFault,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Recall failed.
    #[error(transparent)]
    Recall(#[from] RecallError),
}

/// What is wrong with a file or a directory.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// It could not be read.
    #[error("{}", describe_io(.0))]
    Io(#[from] io::Error),
    /// It could not be deleted.
    #[error(transparent)]
    NotDeleted(io::Error),
    /// It is a directory without a file that counts as a text.
    #[error("there is no .{} file in this folder", extensions.join(", ."))]
    NoTexts {
        /// The extensions that count.
        extensions: &'static [&'static str],
    },
    /// It is a directory, and something in it could not be listed.
    #[error("something in it: {}", describe_walk(.0))]
    Unlisted(ignore::Error),
    /// It is neither a file nor a directory.
    #[error("it is not a file")]
    NotAFile,
    /// It is too large.
    #[error("it is larger than {} MB", limit / 1024 / 1024)]
    TooLarge {
        /// The maximum size in bytes.
        limit: u64,
    },
    /// It is not UTF-8.
    #[error("it is not text (UTF-8)")]
    NotUtf8,
    /// It has no text.
    #[error("it is empty")]
    Empty,
    /// Its front matter cannot be read.
    #[error(transparent)]
    FrontMatter(#[from] FrontMatterError),
}

fn describe_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "it may not be read".into(),
        _ => error.to_string(),
    }
}

fn describe_walk(error: &ignore::Error) -> String {
    error.io_error().map_or_else(|| error.to_string(), describe_io)
}
