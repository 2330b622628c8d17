//! Settings that the program itself changes, by their keys in the store.

use memoir_store::Store;

use crate::failure::Failure;

/// The key under which it is kept whether memory is asked.
pub(crate) const RECALL: &str = "rag.enabled";

/// Whether memory is asked. It is, unless it was switched off.
pub(crate) async fn recall_is_on(store: &dyn Store) -> Result<bool, Failure> {
    Ok(store.setting(RECALL).await?.as_deref() != Some("off"))
}

/// What a model is set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Task {
    /// Answering
    Chat,
    /// Summarising in the background
    Summarizer,
}

impl Task {
    /// The key under which the model is kept.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Chat => "chat.model",
            Self::Summarizer => "summarizer.model",
        }
    }

    /// The word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Summarizer => "summarizer",
        }
    }
}
