//! `remember`: stores a statement.

use memoir_core::Right;
use memoir_runtime::{
    Failure,
    view::{ItemId, NewStatement},
};
use rmcp::{
    RoleServer,
    model::{Tool, ToolAnnotations},
    schemars::{self, JsonSchema},
    service::RequestContext,
};
use serde::Deserialize;

use crate::quote::NOTICE;

use super::{
    super::results::{QuotationResult, RememberResult},
    MemoryServer, definition,
};

/// Who may see the statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Scope {
    /// Programs that work for the current project.
    #[default]
    Project,
    /// Programs that work for any project.
    Shared,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct Arguments {
    /// The statement, as a sentence that makes sense without this conversation.
    pub(in crate::mcp) statement: String,
    /// Who may see it: "project", or "shared" for all projects if this server was started with `--scope all`.
    #[serde(default)]
    scope: Scope,
}

impl Arguments {
    /// Returns whether programs that work for any project may see the statement.
    pub(in crate::mcp) fn is_shared(&self) -> bool {
        self.scope == Scope::Shared
    }
}

pub(super) fn define(name: &'static str) -> Tool {
    definition::<Arguments, RememberResult>(
        name,
        "Remember",
        "Store a statement verbatim, so that it is found in later conversations and from other programs: a decision, a \
         preference, a fact about the project. Returns the earlier statements that it contradicts.",
    )
    .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(false))
}

pub(super) async fn run(
    arguments: Arguments,
    server: &MemoryServer,
    context: &RequestContext<RoleServer>,
) -> Result<RememberResult, Failure> {
    let statement = NewStatement {
        is_shared: arguments.is_shared(),
        text: arguments.statement,
        source: server.source(context),
        key: None,
    };
    let report = server.view.remember(&statement).await?;
    Ok(RememberResult {
        id: ItemId::Exchange(report.exchange).to_string(),
        notice: NOTICE,
        supersedes: report
            .supersedes
            .into_iter()
            .filter(|_| server.allows(Right::Read))
            .map(QuotationResult::from)
            .collect(),
        waits: None,
    })
}
