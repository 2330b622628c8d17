//! Forgetting, with a preview.

use axum::Json;
use http::StatusCode;
use memoir_core::{ConversationId, ExchangeId};
use memoir_runtime::view::{ForgetPlan, ItemId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    extract::{Body, View},
    problem::Problem,
};

/// What to forget, at most 50 items.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Selection {
    /// Ids of exchanges.
    #[serde(default)]
    exchanges: Vec<i64>,
    /// Ids of conversations.
    #[serde(default)]
    conversations: Vec<i64>,
    /// Names of documents.
    #[serde(default)]
    documents: Vec<String>,
}

impl Selection {
    fn to_items(&self) -> Vec<ItemId> {
        let exchanges = self.exchanges.iter().map(|id| ItemId::Exchange(ExchangeId::new(*id)));
        let conversations =
            self.conversations.iter().map(|id| ItemId::Conversation(ConversationId::new(*id)));
        let documents = self.documents.iter().map(|name| ItemId::Document(name.clone()));
        exchanges.chain(conversations).chain(documents).collect()
    }
}

/// What to forget, and what the user agreed to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ForgetRequest {
    /// The same selection as in the preview.
    selection: Selection,
    /// `plan` of the preview.
    plan: String,
}

/// What forgetting a selection would delete.
#[derive(Serialize, ToSchema)]
pub(super) struct ForgetPreview {
    /// A line for each item.
    items: Vec<String>,
    /// Number of messages that would be deleted.
    messages: u64,
    /// Number of documents that would be deleted.
    documents: u64,
    /// Identifies this plan. Forgetting is refused if it would delete anything else.
    plan: String,
}

impl From<ForgetPlan> for ForgetPreview {
    fn from(plan: ForgetPlan) -> Self {
        let fingerprint = plan.fingerprint();
        Self { items: plan.items, messages: plan.messages, documents: plan.documents, plan: fingerprint }
    }
}

/// What was forgotten.
#[derive(Serialize, ToSchema)]
pub(super) struct ForgetReply {
    /// Number of deleted messages.
    messages: u64,
    /// Number of deleted documents.
    documents: u64,
}

/// Preview forgetting
///
/// Returns what forgetting a selection would delete, to show it to the user.
#[utoipa::path(post, path = "/forget/preview", tag = "changes", operation_id = "preview_forgetting",
    request_body = Selection, responses((status = OK, body = ForgetPreview)))]
pub(super) async fn preview(
    View(view): View,
    Body(selection): Body<Selection>,
) -> Result<Json<ForgetPreview>, Problem> {
    Ok(Json(view.plan_forgetting(&selection.to_items()).await?.into()))
}

/// Forget
///
/// Deletes a selection for good, with everything derived from it. Needs the plan of the preview.
#[utoipa::path(post, path = "/forget", tag = "changes", operation_id = "forget",
    request_body = ForgetRequest, responses((status = OK, body = ForgetReply)))]
pub(super) async fn forget(
    View(view): View,
    Body(request): Body<ForgetRequest>,
) -> Result<Json<ForgetReply>, Problem> {
    let plan = view.plan_forgetting(&request.selection.to_items()).await?;
    check_plan(&plan, &request.plan)?;
    let (messages, documents) = view.forget(&plan).await?;
    Ok(Json(ForgetReply { messages, documents }))
}

/// Fails unless a plan is the one that the user has seen.
pub(crate) fn check_plan(plan: &ForgetPlan, fingerprint: &str) -> Result<(), Problem> {
    match plan.fingerprint() == fingerprint {
        true => Ok(()),
        false => Err(Problem::new(StatusCode::CONFLICT, "this is not what the preview listed")
            .hint("Nothing was forgotten. Preview it again.")),
    }
}
