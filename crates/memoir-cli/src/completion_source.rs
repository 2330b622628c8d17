//! Sources of completions for argument values. They are attached to the argument declarations.

use clap::builder::ArgExt;
use memoir_runtime::operations::suggestions::SuggestionSource;

/// Source of completions for the value of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueSource {
    /// Names of slash commands.
    Commands,
    /// Paths of files and directories.
    Files,
    /// Stored objects, models or settings.
    Lookup(SuggestionSource),
    /// Free text: has no completions, and needs no quotation marks in a slash command.
    FreeText,
}

impl ValueSource {
    pub(crate) const CONVERSATIONS: Self = Self::Lookup(SuggestionSource::Conversations);
    pub(crate) const DOCUMENTS: Self = Self::Lookup(SuggestionSource::Documents);
    pub(crate) const MODELS: Self = Self::Lookup(SuggestionSource::Models);
    pub(crate) const PERSONAS: Self = Self::Lookup(SuggestionSource::Personas);
    pub(crate) const RECALL_SETTINGS: Self = Self::Lookup(SuggestionSource::RecallSettings);
    pub(crate) const CONTEXT_SETTINGS: Self = Self::Lookup(SuggestionSource::ContextSettings);
    pub(crate) const TASKS: Self = Self::Lookup(SuggestionSource::Tasks);
}

impl ArgExt for ValueSource {}
