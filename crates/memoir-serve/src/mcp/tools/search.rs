//! `search`: exchanges and documents that match keywords, in the form that ChatGPT expects.

use memoir_runtime::{Failure, view::LookUp};
use rmcp::{
    model::Tool,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

use crate::quote::NOTICE;

use super::{
    super::results::{FoundItem, SearchResult},
    MemoryServer, definition, read_only,
};

const MAX_RESULTS: usize = 10;

/// Maximum number of tokens of all passages that are found.
const MAX_TOKENS: u64 = 6000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Keywords or a question.
    query: String,
}

pub(super) fn define(name: &'static str) -> Tool {
    definition::<Arguments, SearchResult>(
        name,
        "Search memory",
        "Search earlier conversations and the user's documents by keyword and by meaning. Returns ids for fetch. To \
         answer a question, use recall.",
    )
    .with_annotations(read_only())
}

pub(super) async fn run(arguments: Arguments, server: &MemoryServer) -> Result<SearchResult, Failure> {
    let request = LookUp { question: arguments.query, ..LookUp::default() };
    let recollection = server.view.search(&request, MAX_RESULTS, MAX_TOKENS).await?;
    let citations = server.view.cite(&recollection).await?;
    Ok(SearchResult { notice: NOTICE, results: citations.into_iter().map(FoundItem::from).collect() })
}
