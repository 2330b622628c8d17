//! Why a directory cannot be used as an embedding model.

use std::{io, path::PathBuf};

use crate::error::AssetError;

/// Why a directory cannot be used as an embedding model.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is not the JSON that it should be.
    #[error("{} is not as expected: {source}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The model has another architecture.
    #[error("{0}; only models with the architecture of BERT can be used")]
    Unsupported(String),
    /// The weights or the vocabulary do not fit.
    #[error("{0}")]
    Defect(String),
}

impl From<AssetError> for DirectoryError {
    fn from(error: AssetError) -> Self {
        Self::Defect(error.to_string())
    }
}
