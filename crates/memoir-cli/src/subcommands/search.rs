//! `memoir search`.

use std::io::{Write as _, stdout};

use memoir_agent::RecalledPassage;
use memoir_recall::{Asking, Recall};
use memoir_store::Filter;

use super::Format;
use memoir_runtime::{dates, failure::Failure};

use crate::{answer_view::folded, args::SearchArgs, search_view, talks};

pub(crate) async fn run(wanted: SearchArgs, mut recall: Recall) -> Result<(), Failure> {
    let since = dates::since(wanted.since.as_deref(), &recall)?;
    let scope = wanted.scope.as_deref().map(talks::project);
    let limit = usize::from(wanted.limit);
    recall.settings.exchange_capacity = limit;
    recall.settings.exchanges_per_conversation = limit;
    recall.settings.document_limit = limit.min(recall.settings.document_limit);
    // Whoever searches reads it himself: nothing has to fit into a request.
    recall.settings.token_budget = u64::MAX;
    let query = wanted.query.join(" ");
    let found = recall.ask(&query, Asking::Search, Filter { since, scope, ..Filter::default() }).await;
    let text = match Format::new(wanted.json) {
        Format::Text => search_view::text(&found, &recall.zone),
        Format::Json => serde_json::to_string(&RecalledPassage::list(&found.passages, &found.documents))
            .map_err(std::io::Error::from)?,
    };
    Ok(write!(stdout(), "{}", folded(text.trim_end()))?)
}
