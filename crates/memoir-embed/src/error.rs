//! Errors in the built-in model.

use safetensors::SafeTensorError;

/// A defect in the built-in weights or vocabulary.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AssetError {
    #[error("the embedding model is damaged: {0}")]
    Damaged(#[source] SafeTensorError),
    #[error("the embedding model has no tensor {name}: {source}")]
    MissingTensor { name: String, source: SafeTensorError },
    #[error("the tensor {name} of the embedding model has the wrong type")]
    WrongType { name: String },
    #[error("the tensor {name} of the embedding model has the wrong shape")]
    WrongShape { name: String },
    #[error("the vocabulary of the embedding model has no token {name}")]
    MissingToken { name: &'static str },
}
