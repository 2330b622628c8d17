//! Errors in the built-in models.

use memoir_models::ModelError;
use safetensors::SafeTensorError;

/// A defect in the built-in weights or vocabulary.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AssetError {
    #[error("a built-in model is damaged: {0}")]
    Damaged(#[source] SafeTensorError),
    #[error("a built-in model has no tensor {name}: {source}")]
    MissingTensor { name: String, source: SafeTensorError },
    #[error("the tensor {name} of a built-in model has the wrong type")]
    WrongType { name: String },
    #[error("the tensor {name} of a built-in model has the wrong shape")]
    WrongShape { name: String },
    #[error("the vocabulary of the built-in models has no token {name}")]
    MissingToken { name: &'static str },
}

impl AssetError {
    pub(crate) fn to_model_error(&self) -> ModelError {
        ModelError::InvalidResponse(self.to_string())
    }
}
