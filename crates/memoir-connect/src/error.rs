//! The reasons why a host cannot be connected.

use std::{fmt, io, path::PathBuf};

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigFormat {
    /// JSON, with or without comments.
    Json,
    /// TOML.
    Toml,
}

impl fmt::Display for ConfigFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
        })
    }
}

/// The reason why a plan could not be made or applied.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A file cannot be parsed.
    #[error(
        "{} is not valid {format} (line {line}: {reason}). Correct it, then run the command again. \
         Nothing was changed.",
        path.display()
    )]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The format that the host expects.
        format: ConfigFormat,
        /// Line number, starting at 1.
        line: usize,
        /// What the parser expected.
        reason: String,
    },
    /// A file is not text.
    #[error(
        "{} is not UTF-8 text: Save it as UTF-8, then run the command again. Nothing was changed.",
        path.display()
    )]
    NotUtf8 {
        /// The file.
        path: PathBuf,
    },
    /// A value in a file has another type than the host expects.
    #[error(
        "`{key}` in {} is not {expected}. Correct it, then run the command again. Nothing was changed.",
        path.display()
    )]
    WrongType {
        /// The file.
        path: PathBuf,
        /// The key, with the keys above it, separated by dots.
        key: String,
        /// The expected type, with its article.
        expected: &'static str,
    },
    /// The whole file is not an object.
    #[error(
        "{} does not contain a JSON object. Correct it, then run the command again. Nothing was changed.",
        path.display()
    )]
    NotAnObject {
        /// The file.
        path: PathBuf,
    },
    /// A key occurs more than once, so that it is unclear which value the host uses.
    #[error(
        "`{key}` occurs more than once in {}: Keep one of them, then run the command again. \
         Nothing was changed.",
        path.display()
    )]
    DuplicateKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
    },
    /// The edited text would not be valid. This is a bug in Memoir.
    #[error(
        "Could not edit {} because of its unusual layout: Add Memoir by hand, as the documentation describes. \
         Nothing was changed.",
        path.display()
    )]
    Layout {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error(
        "Could not read {} ({source}): Check its permissions, then run the command again. Nothing was changed.",
        path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file cannot be written. All files have their previous content.
    #[error(
        "Could not write {} ({source}): Check the permissions and the free space, then run the command again. \
         Nothing was changed.",
        path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Another program has written a file since the plan was made.
    #[error(
        "{} has changed meanwhile: Run the command again to see the new changes. Nothing was changed.",
        path.display()
    )]
    ChangedMeanwhile {
        /// The file.
        path: PathBuf,
    },
    /// Writing failed, and so did going back.
    #[error(
        "Could not restore {} after another file could not be written ({source}): Run the command with \
         `--remove` to take Memoir out of it.",
        path.display()
    )]
    Rollback {
        /// The file that has the new content.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// The reason why a text cannot be edited. [`EditError::for_path`] adds the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EditError {
    /// The text cannot be parsed.
    Syntax { format: ConfigFormat, line: usize, reason: String },
    /// A value has another type.
    WrongType { key: String, expected: &'static str },
    /// The root is not an object.
    NotAnObject,
    /// A key occurs twice.
    DuplicateKey { key: String },
    /// The result would not be valid.
    Layout,
}

impl EditError {
    /// Returns the error for a file.
    pub(crate) fn for_path(self, path: PathBuf) -> ConnectError {
        match self {
            Self::Syntax { format, line, reason } => ConnectError::Syntax { path, format, line, reason },
            Self::WrongType { key, expected } => ConnectError::WrongType { path, key, expected },
            Self::NotAnObject => ConnectError::NotAnObject { path },
            Self::DuplicateKey { key } => ConnectError::DuplicateKey { path, key },
            Self::Layout => ConnectError::Layout { path },
        }
    }
}
