//! What a turn reports while it runs, and when it is over.

use std::{sync::Arc, time::Duration};

use memoir_core::{ConversationId, ExchangeId, ExchangeStatus, Recalled, ToolCall, Usage, Usd};
use memoir_models::{ChatRequest, ModelError, StopReason};
use memoir_store::CostSummary;
use serde::Serialize;

use crate::ContextReport;

/// What happens during a turn, in order.
///
/// It serializes to a JSON object with a `type` in snake case, which `docs/json.md` describes. The request that is sent, and
/// secrets in the arguments of a call, are left out of it.
#[derive(Debug, Clone)]
pub enum TurnEvent {
    /// A request is sent to the model.
    RequestSent(Arc<ChatRequest>),
    /// The request failed and will be sent again.
    Retrying {
        /// What went wrong.
        reason: ModelError,
        /// How long the turn waits before that.
        wait: Duration,
    },
    /// The next part of the answer.
    Text(String),
    /// The next part of the model's reasoning.
    Thinking(String),
    /// The user is about to be asked for permission.
    Asking,
    /// A tool starts.
    ToolStarted(ToolCall),
    /// A tool ended.
    ToolFinished {
        /// The call.
        call: ToolCall,
        /// How it ended.
        outcome: ToolOutcome,
    },
    /// A message for the user.
    Notice(String),
    /// A minor degradation, shown only in verbose mode.
    Detail(String),
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// With output.
    Succeeded,
    /// With an error, which the model reads.
    Failed,
    /// It was not allowed to run. The model reads why.
    Refused,
}

/// A callback that receives the events of a turn.
pub type Observer<'a> = &'a mut (dyn FnMut(TurnEvent) + Send);

/// A turn that is over and committed.
///
/// It serializes to a JSON object with the `type` `result`, which `docs/json.md` describes. The sizes of the context and the
/// cost of the whole conversation are left out of it.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// The conversation it belongs to.
    pub conversation_id: ConversationId,
    /// The stored exchange.
    pub exchange_id: ExchangeId,
    /// How it ended.
    pub status: ExchangeStatus,
    /// Why the model stopped: on its own, or at its limit.
    pub stop: StopReason,
    /// The answer.
    pub text: String,
    /// The passages from memory that were sent with the prompt.
    pub recalled: Recalled,
    /// The sizes of the layers of the last request.
    pub context: Option<ContextReport>,
    /// The model that answered.
    pub model: String,
    /// Tokens of all calls to models.
    pub usage: Usage,
    /// Cost of all calls, or `None` if a price is unknown.
    pub cost: Option<Usd>,
    /// Number of calls to the model.
    pub request_count: u64,
    /// Number of tool calls.
    pub tool_call_count: u64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Cost of the whole conversation, including this exchange.
    pub conversation_cost: CostSummary,
}
