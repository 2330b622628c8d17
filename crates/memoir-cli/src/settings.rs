//! Settings that the program itself changes, by their keys in the store.

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
