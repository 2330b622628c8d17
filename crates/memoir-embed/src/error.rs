//! Why the compiled-in model cannot be used.

use safetensors::SafeTensorError;

/// A fault in the weights or the vocabulary that are compiled in. It cannot occur in a program that passed its tests.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AssetError {
    /// The weights are not in the expected format.
    #[error("the embedding model is damaged: {0}")]
    Damaged(#[source] SafeTensorError),
    /// A tensor is missing.
    #[error("the embedding model has no {name}: {source}")]
    MissingTensor { name: String, source: SafeTensorError },
    /// A tensor has numbers of another type.
    #[error("{name} has the wrong type")]
    WrongType { name: String },
    /// A tensor has another number of rows or columns.
    #[error("{name} has the wrong shape")]
    WrongShape { name: String },
    /// A special token is missing from the vocabulary.
    #[error("the vocabulary has no {name}")]
    MissingToken { name: &'static str },
}
