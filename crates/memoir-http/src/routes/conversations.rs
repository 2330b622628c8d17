//! Listing and reading conversations.

use axum::Json;
use memoir_core::{Conversation, ConversationId, ExchangeId};
use memoir_store::ListPosition;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    cursor::{Cursor as _, page_size},
    exchanges::ExchangeBody,
};
use crate::{
    extract::{Parameters, Segment, View},
    problem::Problem,
};

/// A conversation.
#[derive(Serialize, ToSchema)]
pub(super) struct ConversationBody {
    /// Id of the conversation.
    id: i64,
    /// Title, initially the beginning of the first prompt.
    title: String,
    /// Project that it belongs to.
    project: String,
    /// Model that gave the latest answer.
    model: String,
    /// When the first exchange started, in RFC 3339.
    created: String,
    /// When the latest exchange was complete, in RFC 3339.
    updated: String,
    /// Number of exchanges, without those that it shares with the conversation that it was forked from.
    exchanges: u64,
    /// Conversation that it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_from: Option<i64>,
    /// Summary, if one has been written.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// Whether programs that work for other projects may see it.
    shared: bool,
}

impl From<Conversation> for ConversationBody {
    fn from(conversation: Conversation) -> Self {
        Self {
            id: conversation.id.get(),
            title: conversation.title,
            project: conversation.scope,
            model: conversation.model,
            created: conversation.created.to_string(),
            updated: conversation.updated.to_string(),
            exchanges: conversation.exchange_count,
            forked_from: conversation.forked_from.map(ConversationId::get),
            summary: conversation.summary,
            shared: conversation.is_shared,
        }
    }
}

/// A page of a list of conversations.
#[derive(Serialize, ToSchema)]
pub(super) struct ConversationPage {
    /// Conversations, most recently updated first.
    conversations: Vec<ConversationBody>,
    /// Cursor of the next page. Absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A page of the exchanges of a conversation.
#[derive(Serialize, ToSchema)]
pub(super) struct ExchangePage {
    /// Exchanges, newest first.
    exchanges: Vec<ExchangeBody>,
    /// Cursor of the next page. Absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParameters {
    /// Only conversations whose title contains this text.
    matching: Option<String>,
    /// `next` of the previous page.
    cursor: Option<String>,
    /// Maximum number of conversations; 20 if it is left out.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageParameters {
    /// `next` of the previous page.
    cursor: Option<String>,
    /// Maximum number of exchanges; 20 if it is left out.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// List conversations
///
/// Conversations that only asked memory something are left out.
#[utoipa::path(get, path = "/conversations", tag = "conversations", operation_id = "list_conversations",
    params(ListParameters),
    responses((status = OK, body = ConversationPage)))]
pub(super) async fn list(
    View(view): View,
    Parameters(parameters): Parameters<ListParameters>,
) -> Result<Json<ConversationPage>, Problem> {
    let limit = page_size(parameters.limit)?;
    let after = parameters.cursor.as_deref().map(ListPosition::decode).transpose()?;
    let conversations = view.conversations(parameters.matching.as_deref(), false, after, limit).await?;
    let is_full = conversations.len() == limit as usize;
    let last = conversations.last().filter(|_| is_full);
    let next = last.map(|last| ListPosition { updated: last.updated, id: last.id }.encode());
    Ok(Json(ConversationPage {
        conversations: conversations.into_iter().map(ConversationBody::from).collect(),
        next,
    }))
}

/// Show a conversation
#[utoipa::path(get, path = "/conversations/{id}", tag = "conversations", operation_id = "show_conversation",
    params(("id" = i64, Path, description = "Id of the conversation")),
    responses((status = OK, body = ConversationBody)))]
pub(super) async fn show(
    View(view): View,
    Segment(id): Segment<i64>,
) -> Result<Json<ConversationBody>, Problem> {
    let conversation = view.conversation(ConversationId::new(id)).await?;
    let conversation = conversation.ok_or_else(|| Problem::missing(format!("conversation {id}")))?;
    Ok(Json(conversation.into()))
}

/// List the exchanges of a conversation
///
/// A fork ends with the exchanges that it shares with the conversation that it was forked from.
#[utoipa::path(get, path = "/conversations/{id}/exchanges", tag = "conversations", operation_id = "list_exchanges",
    params(PageParameters, ("id" = i64, Path, description = "Id of the conversation")),
    responses((status = OK, body = ExchangePage)))]
pub(super) async fn exchanges(
    View(view): View,
    Segment(id): Segment<i64>,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<ExchangePage>, Problem> {
    let limit = page_size(parameters.limit)?;
    let before = parameters.cursor.as_deref().map(ExchangeId::decode).transpose()?;
    let conversation = view.conversation(ConversationId::new(id)).await?;
    let conversation = conversation.ok_or_else(|| Problem::missing(format!("conversation {id}")))?;
    let exchanges = view.latest_exchanges(&conversation, before, limit).await?;
    let is_full = exchanges.len() == limit as usize;
    let next = exchanges.first().filter(|_| is_full).map(|oldest| oldest.id.encode());
    Ok(Json(ExchangePage { exchanges: exchanges.into_iter().rev().map(ExchangeBody::from).collect(), next }))
}
