//! Completion of names and ids while the user is typing.

use memoir_agent::ContextSettings;
use memoir_core::setting::HasSettings as _;
use memoir_recall::RecallSettings;
use memoir_store::{ConversationList, StoreError};
use serde::Serialize;

use memoir_core::printable;

use crate::{personas, runtime::Runtime, settings};

const CONVERSATION_LIMIT: u32 = 20;

/// Kind of value to suggest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuggestionSource {
    /// Ids of conversations, matched by id or title.
    Conversations,
    /// Names of all documents.
    Documents,
    /// Names of the models in the catalog.
    Models,
    /// Names of the user's personas.
    Personas,
    /// Names of recall settings.
    RecallSettings,
    /// Names of context settings.
    ContextSettings,
    /// Names of all settings.
    Settings,
    /// Names of scheduled tasks.
    Tasks,
}

/// A value that completes the user's input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// Text that replaces what the user has typed.
    pub value: String,
    /// Description, if the value alone is not clear.
    pub about: Option<String>,
}

impl Suggestion {
    /// Creates a suggestion without a description.
    pub fn plain(value: impl Into<String>) -> Self {
        Self { value: value.into(), about: None }
    }
}

/// Returns the values that match `typed`. Returns none if the store cannot be read; the command that the user is typing
/// will report the error.
pub async fn suggest(source: SuggestionSource, typed: &str, runtime: &Runtime) -> Vec<Suggestion> {
    let store = runtime.store();
    let names: Vec<String> = match source {
        SuggestionSource::Conversations => return suggest_conversations(typed, runtime).await,
        SuggestionSource::Documents => {
            let documents = store.documents().await.unwrap_or_else(log_error);
            documents.into_iter().map(|document| document.slug).collect()
        }
        SuggestionSource::Tasks => {
            let tasks = store.tasks().await.unwrap_or_else(log_error);
            tasks.into_iter().map(|task| task.definition.name).collect()
        }
        SuggestionSource::Models => {
            let models = runtime.models().catalog.models();
            let mut names: Vec<String> = models.map(|(name, _)| name.model.clone()).collect();
            names.sort();
            names.dedup();
            names
        }
        SuggestionSource::Personas => personas::list(runtime.home()),
        SuggestionSource::Settings => settings::keys().map(str::to_owned).collect(),
        SuggestionSource::RecallSettings => {
            RecallSettings::ALL.iter().map(|setting| setting.key.to_owned()).collect()
        }
        SuggestionSource::ContextSettings => {
            ContextSettings::ALL.iter().map(|setting| setting.key.to_owned()).collect()
        }
    };
    names.into_iter().filter(|name| name.starts_with(typed)).map(Suggestion::plain).collect()
}

/// Suggests conversations. Digits match the start of an id, and any other text matches part of a title.
async fn suggest_conversations(typed: &str, runtime: &Runtime) -> Vec<Suggestion> {
    let title_part = Some(typed).filter(|typed| !typed.is_empty() && typed.parse::<u64>().is_err());
    let list = ConversationList {
        matching: title_part.map(str::to_owned),
        limit: CONVERSATION_LIMIT,
        exclude_lookups: true,
        ..ConversationList::default()
    };
    let conversations = runtime.store().conversations(&list).await.unwrap_or_else(log_error);
    let suggestions = conversations.into_iter().map(|conversation| Suggestion {
        value: conversation.id.to_string(),
        about: Some(printable(&conversation.title).into_owned()),
    });
    suggestions.filter(|suggestion| title_part.is_some() || suggestion.value.starts_with(typed)).collect()
}

fn log_error<T>(error: StoreError) -> Vec<T> {
    tracing::debug!(%error, "could not read suggestions from the store");
    Vec::new()
}
