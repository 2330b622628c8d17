//! `forget`: deletes something from memory after the user agreed.

use memoir_runtime::{Failure, view::ItemId};
use rmcp::{
    RoleServer,
    model::{CallToolRequestParams, CallToolResponse, Tool, ToolAnnotations},
    schemars::{self, JsonSchema},
    service::RequestContext,
};
use serde::Deserialize;

use super::{
    super::{
        forget::{Consent, Question, ask},
        results::ForgetResult,
    },
    MemoryServer, definition, to_error, to_result,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct Arguments {
    /// Ids to forget, such as exchange-12, conversation-3 or document-packing-list; at most 50.
    ids: Vec<String>,
}

impl Arguments {
    /// Returns what is to be forgotten.
    pub(in crate::mcp) fn items(&self) -> Result<Vec<ItemId>, Failure> {
        self.ids.iter().map(|id| id.parse().map_err(|error| Failure::usage(format!("{error}")))).collect()
    }
}

pub(super) fn define(name: &'static str) -> Tool {
    definition::<Arguments, ForgetResult>(
        name,
        "Forget",
        "Delete exchanges, conversations or documents from memory for good, with everything derived from them. The user \
         is asked first. Call it only if the user wants something forgotten.",
    )
    .with_annotations(ToolAnnotations::new().read_only(false).destructive(true).idempotent(true).open_world(false))
}

pub(super) async fn run(
    arguments: Arguments,
    server: &MemoryServer,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    let response = async {
        let ids = arguments.items()?;
        let plan = server.view.plan_forgetting(&ids).await?;
        Ok(match ask(&Question::from(&plan), request, context).await? {
            Consent::Unasked(question) => question.into(),
            Consent::Refused => {
                to_result(&ForgetResult { forgotten: false, messages: 0, documents: 0 })?.into()
            }
            Consent::Given => {
                // Something may have been stored while the user was asked.
                if server.view.plan_forgetting(&ids).await? != plan {
                    return Err(Failure::usage("what would be deleted has changed since the user was asked")
                        .hint("Nothing was forgotten. Call forget again."));
                }
                let (messages, documents) = server.view.forget(&plan).await?;
                to_result(&ForgetResult { forgotten: true, messages, documents })?.into()
            }
        })
    };
    response.await.unwrap_or_else(|failure: Failure| to_error(&failure).into())
}
