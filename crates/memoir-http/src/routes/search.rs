//! Searching by keyword and meaning.

use axum::Json;
use memoir_runtime::view::LookUp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{cursor::page_size, passage::PassageBody};
use crate::{
    extract::{Body, View},
    problem::Problem,
};

/// Maximum number of tokens of a passage. More of it can be read with its exchange.
const TOKENS_PER_RESULT: u64 = 600;

/// A search.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchRequest {
    /// Keywords or a question.
    #[schema(example = "staging server")]
    query: String,
    /// Only what was said from this day on, such as `2026-05-01`, `yesterday` or `last week`.
    since: Option<String>,
    /// Only what was said up to this day.
    until: Option<String>,
    /// Only what was said in this program, such as `claude-code`, or `memoir` itself.
    program: Option<String>,
    /// Only what this person said, in imported conversations between people.
    person: Option<String>,
    /// Whether to leave out what other projects share.
    #[serde(default)]
    only_project: bool,
    /// Maximum number of results; 20 if it is left out.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// What a search found.
#[derive(Serialize, ToSchema)]
pub(super) struct SearchReply {
    /// Matching passages, best first.
    results: Vec<PassageBody>,
    /// Problems during the search.
    problems: Vec<String>,
}

/// Search
///
/// Searches conversations and documents by keyword and by meaning.
#[utoipa::path(post, path = "/search", tag = "recall", operation_id = "search",
    request_body = SearchRequest, responses((status = OK, body = SearchReply)))]
pub(super) async fn search(
    View(view): View,
    Body(request): Body<SearchRequest>,
) -> Result<Json<SearchReply>, Problem> {
    let limit = page_size(request.limit)?;
    let look_up = LookUp {
        question: request.query,
        only_project: request.only_project,
        since: request.since,
        until: request.until,
        program: request.program,
        person: request.person,
        project: None,
    };
    let max_tokens = u64::from(limit) * TOKENS_PER_RESULT;
    let recollection = view.search(&look_up, limit as usize, max_tokens).await?;
    let citations = view.cite(&recollection).await?;
    let results = citations.into_iter().map(PassageBody::from).collect();
    Ok(Json(SearchReply { results, problems: recollection.notices }))
}
