//! `fetch`: the text of an exchange, a conversation or a document.

use memoir_runtime::{Failure, view::ItemId};
use rmcp::{
    model::Tool,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

use super::{
    super::{
        resources::{read_item, uri},
        results::FetchResult,
    },
    MemoryServer, definition, read_only,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Id from recall, search or conversations, such as exchange-12.
    id: String,
    /// Where to start, to read the rest of a long text. A result that is not complete contains the next offset.
    #[serde(default)]
    offset: usize,
}

pub(super) fn define(name: &'static str) -> Tool {
    definition::<Arguments, FetchResult>(
        name,
        "Fetch from memory",
        "Read an earlier exchange, a whole conversation or a document by its id.",
    )
    .with_annotations(read_only())
}

pub(super) async fn run(arguments: Arguments, server: &MemoryServer) -> Result<FetchResult, Failure> {
    let id: ItemId = arguments.id.parse().map_err(|error| Failure::usage(format!("{error}")))?;
    let item = read_item(&server.view, &id).await?;
    let (text, next_offset) = item.part(arguments.offset);
    Ok(FetchResult {
        id: id.to_string(),
        title: item.title,
        url: uri(&id),
        text,
        next_offset,
        metadata: item.metadata,
    })
}
