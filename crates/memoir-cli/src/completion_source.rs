//! Sources of completions for argument values. They are attached to the argument declarations.

use clap::builder::ArgExt;
use clap_complete::{ArgValueCandidates, CompletionCandidate};
use memoir_agent::ApprovalMode;
use memoir_models::Catalog;
use memoir_runtime::{operations::suggestions::SuggestionSource, settings};

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
    pub(crate) const SETTINGS: Self = Self::Lookup(SuggestionSource::Settings);
    pub(crate) const TASKS: Self = Self::Lookup(SuggestionSource::Tasks);
}

impl ArgExt for ValueSource {}

/// Lets shells complete approval modes.
pub(crate) fn complete_modes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| ApprovalMode::ALL.into_iter().map(|mode| mode.as_str().into()).collect())
}

/// Lets shells complete the names of models in the catalog. Shells cannot wait for a server to list its own.
pub(crate) fn complete_models() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let catalog = Catalog::built_in().ok();
        let names = catalog.iter().flat_map(Catalog::models).map(|(name, _)| name.to_string());
        // A bare name is enough, because its beginning tells the provider.
        let spellings = names.flat_map(|name| {
            let bare = name.split_once('/').map(|(_, bare)| bare.to_owned());
            [Some(name), bare].into_iter().flatten()
        });
        spellings.map(CompletionCandidate::new).collect()
    })
}

/// Lets shells complete the names of settings.
pub(crate) fn complete_settings() -> ArgValueCandidates {
    ArgValueCandidates::new(|| settings::keys().map(CompletionCandidate::new).collect())
}
