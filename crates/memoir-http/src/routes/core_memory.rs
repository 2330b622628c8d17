//! Core memory: short texts that are part of every request.

use std::sync::Arc;

use axum::{Json, extract::State};
use http::StatusCode;
use memoir_core::{Clock as _, CoreBlock, CoreEntry, SystemClock};
use memoir_runtime::operations::core_memory::{self, CoreEditOutcome, CoreEditRequest};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    extract::{Body, Segment, View},
    problem::Problem,
    state::AppState,
};

/// A block of core memory.
#[derive(Serialize, ToSchema)]
pub(super) struct BlockBody {
    /// `user`, `project` or `instructions`.
    block: &'static str,
    /// Its text. Empty if it has never been written.
    text: String,
    /// Number of changes so far.
    version: u64,
}

impl From<CoreEntry> for BlockBody {
    fn from(entry: CoreEntry) -> Self {
        Self { block: entry.block.as_str(), text: entry.text, version: entry.version }
    }
}

/// All blocks.
#[derive(Serialize, ToSchema)]
pub(super) struct BlockList {
    /// Blocks in the order in which they are sent.
    blocks: Vec<BlockBody>,
}

/// A new text of a block.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockEdit {
    /// The whole text, at most 2,000 characters.
    text: String,
    /// `version` of the block that was edited. The edit is refused if it has changed since.
    version: u64,
}

/// Show core memory
#[utoipa::path(get, path = "/core-memory", tag = "administration", operation_id = "show_core_memory",
    responses((status = OK, body = BlockList)))]
pub(super) async fn list(
    State(state): State<Arc<AppState>>,
    View(view): View,
) -> Result<Json<BlockList>, Problem> {
    let mut blocks = Vec::new();
    for block in CoreBlock::ALL {
        let store = state.runtime.store().as_ref();
        blocks.push(BlockBody::from(core_memory::read(block, view.project(), store).await?));
    }
    Ok(Json(BlockList { blocks }))
}

/// Change core memory
#[utoipa::path(put, path = "/core-memory/{block}", tag = "administration", operation_id = "change_core_memory",
    params(("block" = String, Path, description = "`user`, `project` or `instructions`")),
    request_body = BlockEdit, responses((status = OK, body = BlockBody)))]
pub(super) async fn change(
    State(state): State<Arc<AppState>>,
    View(view): View,
    Segment(block): Segment<String>,
    Body(edit): Body<BlockEdit>,
) -> Result<Json<BlockBody>, Problem> {
    let block: CoreBlock = block
        .parse()
        .map_err(|_| Problem::missing("such block").hint("The blocks are user, project and instructions."))?;
    let store = state.runtime.store().as_ref();
    let previous = core_memory::read(block, view.project(), store).await?;
    let changed = || {
        Problem::new(StatusCode::CONFLICT, "the block has changed since it was read")
            .hint("Nothing was changed. Read it again.")
    };
    if previous.version != edit.version {
        return Err(changed());
    }
    let limit = CoreBlock::MAX_CHARS;
    let too_long =
        || Problem::new(StatusCode::BAD_REQUEST, format!("the text is longer than {limit} characters"));
    if edit.text.chars().count() > limit {
        return Err(too_long());
    }
    let request = CoreEditRequest { project: view.project().to_owned(), previous, text: edit.text };
    let report = core_memory::edit(&request, store, state.runtime.home(), SystemClock.now()).await?;
    match report.outcome {
        CoreEditOutcome::Changed | CoreEditOutcome::Unchanged => {
            Ok(Json(core_memory::read(block, view.project(), store).await?.into()))
        }
        CoreEditOutcome::Conflict => Err(changed()),
        CoreEditOutcome::TooLong { .. } => Err(too_long()),
    }
}
