//! What Tab looks up, when it is pressed.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_agent::ContextSettings;
use memoir_core::setting::HasSettings as _;
use memoir_models::Catalogue;
use memoir_store::{ConversationList, Store};
use reedline::{Completer, CompletionResult, Span, Suggestion};
use tokio::runtime::Handle;

use super::completion::{Lookup, complete};
use memoir_runtime::{home::Home, models::Models, personas, printable};

/// So many conversations are proposed.
const CONVERSATIONS: u32 = 20;

/// Memory and files, asked from the thread that reads the keyboard.
pub(super) struct LookedUp {
    pub(super) store: Arc<dyn Store>,
    pub(super) runtime: Handle,
    pub(super) models: Arc<Models>,
    pub(super) home: Home,
    pub(super) directory: PathBuf,
}

impl Lookup for LookedUp {
    fn models(&self) -> Vec<String> {
        let catalogue: &Catalogue = &self.models.catalogue;
        let mut names: Vec<String> = catalogue.models().map(|(name, _)| name.model.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    fn personas(&self) -> Vec<String> {
        personas::list(&self.home)
    }

    fn documents(&self) -> Vec<String> {
        let found = self.runtime.block_on(self.store.documents());
        found.unwrap_or_default().into_iter().map(|document| document.slug).collect()
    }

    fn tasks(&self) -> Vec<String> {
        let found = self.runtime.block_on(self.store.tasks());
        found.unwrap_or_default().into_iter().map(|task| task.what.name).collect()
    }

    fn conversations(&self, letters: &str) -> Vec<(String, String)> {
        let matching = Some(letters).filter(|letters| !letters.is_empty() && letters.parse::<u64>().is_err());
        let list = ConversationList {
            matching: matching.map(str::to_owned),
            limit: CONVERSATIONS,
            ..ConversationList::default()
        };
        let found = self.runtime.block_on(self.store.conversations(&list)).unwrap_or_default();
        let numbered =
            found.into_iter().map(|found| (found.id.to_string(), printable(&found.title).into_owned()));
        numbered.filter(|(id, _)| matching.is_some() || id.starts_with(letters)).collect()
    }

    fn recall_settings(&self) -> Vec<&'static str> {
        memoir_recall::Settings::ALL.iter().map(|setting| setting.key).collect()
    }

    fn context_settings(&self) -> Vec<&'static str> {
        ContextSettings::ALL.iter().map(|setting| setting.key).collect()
    }

    fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Completer for LookedUp {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let before = line.get(..pos).unwrap_or(line);
        let (start, proposals) = complete(before, self);
        let suggestions: Vec<Suggestion> = proposals
            .into_iter()
            .map(|proposal| Suggestion {
                // Into a folder one goes on.
                append_whitespace: !proposal.value.ends_with('/'),
                value: proposal.value,
                description: proposal.about,
                span: Span::new(start, before.len()),
                ..Suggestion::default()
            })
            .collect();
        CompletionResult::fresh(suggestions)
    }
}
