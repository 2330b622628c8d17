//! What a turn tells while it runs, and when it is over.

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
    /// A request goes to the model.
    RequestSent(Arc<ChatRequest>),
    /// The call failed and is made again after a while.
    Retrying {
        /// What went wrong.
        reason: ModelError,
        /// How long is waited.
        wait: Duration,
    },
    /// More of the answer.
    Text(String),
    /// More of the reasoning.
    Thinking(String),
    /// The user is about to be asked something.
    Asking,
    /// A tool starts.
    ToolStarted(ToolCall),
    /// A tool is done.
    ToolFinished {
        /// Which call.
        call: ToolCall,
        /// Whether it worked.
        outcome: ToolOutcome,
    },
    /// Something the user should know.
    Notice(String),
    /// Something that went without being missed much, for whoever wants to know.
    Detail(String),
}

/// How a tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// With output.
    Succeeded,
    /// With an error, which the model was told.
    Failed,
    /// It was not allowed to begin, which the model was told.
    Refused,
}

/// Whoever wants to know.
pub type Observer<'a> = &'a mut (dyn FnMut(TurnEvent) + Send);

/// A turn that is over and committed.
///
/// It serializes to a JSON object with the `type` `result`, which `docs/json.md` describes. The sizes of the context and the
/// cost of the whole conversation are left out of it.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// The conversation it belongs to.
    pub conversation_id: ConversationId,
    /// The exchange it became.
    pub exchange_id: ExchangeId,
    /// How it ended.
    pub status: ExchangeStatus,
    /// Why the model stopped: on its own, or at its limit.
    pub stop: StopReason,
    /// The answer.
    pub text: String,
    /// What memory put into it.
    pub recalled: Recalled,
    /// How large the layers of the last request were.
    pub context: Option<ContextReport>,
    /// Who answered.
    pub model: String,
    /// Tokens of all calls.
    pub usage: Usage,
    /// Cost of all calls, where every price is known.
    pub cost: Option<Usd>,
    /// How many calls to the model it took.
    pub request_count: u64,
    /// How many tools ran.
    pub tool_call_count: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// What the conversation has cost, this exchange included.
    pub conversation_cost: CostSummary,
}
