//! Reading an exchange.

use axum::Json;
use memoir_core::{Exchange, ExchangeId, OWN_PROGRAM};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    extract::{Segment, View},
    problem::Problem,
};

/// A prompt and its answer.
#[derive(Serialize, ToSchema)]
pub(super) struct ExchangeBody {
    /// Id of the exchange.
    id: i64,
    /// Conversation that it belongs to.
    conversation: i64,
    /// Program that it took place in.
    program: String,
    /// When the prompt was sent, in RFC 3339.
    started: String,
    /// When the answer was complete, in RFC 3339.
    completed: String,
    /// The prompt.
    prompt: String,
    /// The final answer.
    answer: String,
    /// Model that answered.
    model: String,
    /// Number of tokens of all requests and answers.
    tokens: u64,
    /// Cost in US dollars. Absent if the price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<String>,
    /// Number of tool calls.
    tool_calls: u64,
}

impl From<Exchange> for ExchangeBody {
    fn from(exchange: Exchange) -> Self {
        Self {
            id: exchange.id.get(),
            conversation: exchange.conversation_id.get(),
            program: exchange.source.map_or_else(|| OWN_PROGRAM.to_owned(), |source| source.program),
            started: exchange.started.to_string(),
            completed: exchange.completed.to_string(),
            prompt: exchange.user_message,
            answer: exchange.assistant_message,
            model: exchange.model,
            tokens: exchange.usage.input_tokens + exchange.usage.output_tokens,
            cost: exchange.cost.map(|cost| cost.to_string()),
            tool_calls: exchange.tool_call_count,
        }
    }
}

/// Show an exchange
#[utoipa::path(get, path = "/exchanges/{id}", tag = "conversations", operation_id = "show_exchange",
    params(("id" = i64, Path, description = "Id of the exchange")),
    responses((status = OK, body = ExchangeBody)))]
pub(super) async fn show(View(view): View, Segment(id): Segment<i64>) -> Result<Json<ExchangeBody>, Problem> {
    let exchange = view.exchange(ExchangeId::new(id)).await?;
    let (_, exchange) = exchange.ok_or_else(|| Problem::missing(format!("exchange {id}")))?;
    Ok(Json(exchange.into()))
}
