//! `why`: what hooks added to the last prompts, and why.

use memoir_runtime::Failure;
use rmcp::{
    model::Tool,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

use super::{
    super::results::{InjectionResult, WhyResult},
    MemoryServer, definition, read_only,
};
use crate::quote::NOTICE;

const MAX_LIMIT: u32 = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Maximum number of prompts, at most 20; 1 by default.
    limit: Option<u32>,
}

pub(super) fn define(name: &'static str) -> Tool {
    definition::<Arguments, WhyResult>(
        name,
        "Why was this recalled",
        "Show what memory added to the user's last prompt in this project without being asked, with sources, and why.",
    )
    .with_annotations(read_only())
}

pub(super) async fn run(arguments: Arguments, server: &MemoryServer) -> Result<WhyResult, Failure> {
    let limit = arguments.limit.unwrap_or(1).clamp(1, MAX_LIMIT);
    let reports = server.view.explain_injections(limit).await?;
    Ok(WhyResult { notice: NOTICE, injections: reports.into_iter().map(InjectionResult::from).collect() })
}
