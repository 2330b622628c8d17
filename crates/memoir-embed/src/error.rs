//! Defects of models.

use memoir_models::ModelError;
use safetensors::SafeTensorError;

/// A defect of the weights or the vocabulary of a model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AssetError {
    #[error("its weights are damaged: {0}")]
    Damaged(#[source] SafeTensorError),
    #[error("its weights have no tensor {name}: {source}")]
    MissingTensor { name: String, source: SafeTensorError },
    #[error("its tensor {name} has the wrong type")]
    WrongType { name: String },
    #[error("its tensor {name} has the wrong shape")]
    WrongShape { name: String },
    #[error("its vocabulary has no token {name}")]
    MissingToken { name: &'static str },
}

impl AssetError {
    /// Returns the error for a built-in model.
    pub(crate) fn to_model_error(&self) -> ModelError {
        ModelError::InvalidResponse(format!("a built-in model cannot be loaded: {self}"))
    }
}
