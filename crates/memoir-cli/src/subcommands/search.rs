//! `memoir search`.

use std::{
    io::{Write as _, stdout},
    path::PathBuf,
};

use memoir_recall::{Asking, Recall};
use memoir_store::Filter;

use super::Format;
use crate::{dates, failure::Failure, output::json_passages, scope, search_view};

/// What is looked for, and where.
pub(super) struct Search {
    pub(super) query: String,
    pub(super) since: Option<String>,
    pub(super) scope: Option<PathBuf>,
    pub(super) limit: usize,
    pub(super) format: Format,
}

pub(super) async fn run(search: Search, mut recall: Recall) -> Result<(), Failure> {
    let since = dates::since(search.since.as_deref(), &recall)?;
    let scope = match &search.scope {
        None => None,
        Some(directory) if directory.is_dir() => {
            Some(scope::project_of(directory).to_string_lossy().into_owned())
        }
        // A project that is gone is still remembered.
        Some(directory) => Some(directory.to_string_lossy().into_owned()),
    };
    recall.settings.exchange_capacity = search.limit;
    recall.settings.exchanges_per_conversation = search.limit;
    recall.settings.document_limit = search.limit.min(recall.settings.document_limit);
    // Whoever searches reads it himself: nothing has to fit into a request.
    recall.settings.token_budget = u64::MAX;
    let found = recall.ask(&search.query, Asking::Search, Filter { since, scope, ..Filter::default() }).await;
    let text = match search.format {
        Format::Text => search_view::text(&found, &recall.zone),
        Format::Json => serde_json::to_string(&json_passages(&found.passages, &found.documents))
            .map_err(std::io::Error::from)?,
    };
    Ok(writeln!(stdout(), "{}", text.trim_end())?)
}
