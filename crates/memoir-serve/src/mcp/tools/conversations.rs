//! `conversations`: recent conversations.

use memoir_runtime::Failure;
use rmcp::{
    model::Tool,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

use crate::quote::NOTICE;

use super::{
    super::results::{ConversationItem, ConversationsResult},
    MemoryServer, definition, read_only,
    recall::Scope,
};

const DEFAULT_LIMIT: u32 = 10;

const MAX_LIMIT: u32 = 50;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Where to look: "project" for the current project, "all" for everything that this server may see.
    #[serde(default)]
    scope: Scope,
    /// Only conversations whose title contains this text.
    matching: Option<String>,
    /// Maximum number of conversations, at most 50; 10 by default.
    limit: Option<u32>,
}

pub(super) fn define(name: &'static str) -> Tool {
    definition::<Arguments, ConversationsResult>(
        name,
        "List conversations",
        "List the user's latest conversations with their ids, titles, projects and summaries, newest first.",
    )
    .with_annotations(read_only())
}

pub(super) async fn run(arguments: Arguments, server: &MemoryServer) -> Result<ConversationsResult, Failure> {
    let Arguments { scope, matching, limit } = arguments;
    let limit = limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let conversations =
        server.view.conversations(matching.as_deref(), scope == Scope::Project, None, limit).await?;
    let conversations = conversations.into_iter().map(ConversationItem::from).collect();
    Ok(ConversationsResult { notice: NOTICE, conversations })
}
