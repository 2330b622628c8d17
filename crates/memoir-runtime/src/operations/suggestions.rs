//! Names and numbers that a user may be typing, for completion in any front end.

use memoir_agent::ContextSettings;
use memoir_core::setting::HasSettings as _;
use memoir_recall::RecallSettings;
use memoir_store::{ConversationList, StoreError};
use serde::Serialize;

use crate::{personas, printable::printable, runtime::Runtime};

/// Maximum number of conversations that are suggested.
const CONVERSATIONS: u32 = 20;

/// Where suggestions come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuggestionSource {
    /// Ids of conversations, found by their title too.
    Conversations,
    /// Names of documents.
    Documents,
    /// Names of models.
    Models,
    /// Names of personas.
    Personas,
    /// Settings of recall.
    RecallSettings,
    /// Settings of the context.
    ContextSettings,
    /// Names of scheduled tasks.
    Tasks,
}

/// A value that the user may mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The value.
    pub value: String,
    /// What it is, where the value does not say so.
    pub about: Option<String>,
}

impl Suggestion {
    /// Returns a suggestion that needs no explanation.
    pub fn plain(value: impl Into<String>) -> Self {
        Self { value: value.into(), about: None }
    }
}

/// Returns the values that fit what was typed. If the memory cannot be read, there are none; the command itself reports why.
pub async fn suggest(source: SuggestionSource, typed: &str, runtime: &Runtime) -> Vec<Suggestion> {
    let store = runtime.store();
    let names: Vec<String> = match source {
        SuggestionSource::Conversations => return conversations(typed, runtime).await,
        SuggestionSource::Documents => {
            let documents = store.documents().await.unwrap_or_else(log_unread);
            documents.into_iter().map(|document| document.slug).collect()
        }
        SuggestionSource::Tasks => {
            let tasks = store.tasks().await.unwrap_or_else(log_unread);
            tasks.into_iter().map(|task| task.what.name).collect()
        }
        SuggestionSource::Models => {
            let models = runtime.models().catalogue.models();
            let mut names: Vec<String> = models.map(|(name, _)| name.model.clone()).collect();
            names.sort();
            names.dedup();
            names
        }
        SuggestionSource::Personas => personas::list(runtime.home()),
        SuggestionSource::RecallSettings => {
            RecallSettings::ALL.iter().map(|setting| setting.key.to_owned()).collect()
        }
        SuggestionSource::ContextSettings => {
            ContextSettings::ALL.iter().map(|setting| setting.key.to_owned()).collect()
        }
    };
    names.into_iter().filter(|name| name.starts_with(typed)).map(Suggestion::plain).collect()
}

/// Digits are the beginning of an id; anything else is part of a title.
async fn conversations(typed: &str, runtime: &Runtime) -> Vec<Suggestion> {
    let matching = Some(typed).filter(|typed| !typed.is_empty() && typed.parse::<u64>().is_err());
    let list = ConversationList {
        matching: matching.map(str::to_owned),
        limit: CONVERSATIONS,
        ..ConversationList::default()
    };
    let conversations = runtime.store().conversations(&list).await.unwrap_or_else(log_unread);
    let suggestions = conversations.into_iter().map(|conversation| Suggestion {
        value: conversation.id.to_string(),
        about: Some(printable(&conversation.title).into_owned()),
    });
    suggestions.filter(|known| matching.is_some() || known.value.starts_with(typed)).collect()
}

/// Logs why there are no suggestions. The command that the user is typing reports the error itself.
fn log_unread<T>(error: StoreError) -> Vec<T> {
    tracing::debug!(%error, "there are no suggestions");
    Vec::new()
}
