//! Where the values of an argument come from. Arguments carry it, so that completion follows from their declaration.

use clap::builder::ArgExt;
use memoir_runtime::operations::suggestions::SuggestionSource;

/// Where the values of an argument come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueSource {
    /// Names of slash commands.
    Commands,
    /// Files and directories.
    Files,
    /// Something that is stored or known.
    Known(SuggestionSource),
    /// The user's own words: nothing is proposed, and in a slash command they need no quotation marks.
    FreeText,
}

impl ValueSource {
    pub(crate) const CONVERSATIONS: Self = Self::Known(SuggestionSource::Conversations);
    pub(crate) const DOCUMENTS: Self = Self::Known(SuggestionSource::Documents);
    pub(crate) const MODELS: Self = Self::Known(SuggestionSource::Models);
    pub(crate) const PERSONAS: Self = Self::Known(SuggestionSource::Personas);
    pub(crate) const RECALL_SETTINGS: Self = Self::Known(SuggestionSource::RecallSettings);
    pub(crate) const CONTEXT_SETTINGS: Self = Self::Known(SuggestionSource::ContextSettings);
    pub(crate) const TASKS: Self = Self::Known(SuggestionSource::Tasks);
}

impl ArgExt for ValueSource {}
