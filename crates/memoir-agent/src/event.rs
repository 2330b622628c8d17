//! The events of a turn, and the report at its end.

use std::{sync::Arc, time::Duration};

use memoir_core::{ConversationId, ExchangeId, ExchangeStatus, RecalledPassages, ToolCall, Usage, Usd};
use memoir_models::{ChatRequest, ModelError, StopReason};
use memoir_store::CostSummary;
use serde::Serialize;

use crate::ContextReport;

/// An event of a running turn.
///
/// It serializes to a JSON object with a `type` in snake case, which `docs/json.md` describes. The JSON omits the
/// text of the request and redacts the arguments of tool calls.
#[derive(Debug, Clone)]
pub enum TurnEvent {
    /// A request is sent to the model.
    RequestSent(Arc<ChatRequest>),
    /// The request failed and will be sent again.
    Retrying {
        /// Error of the failed request.
        reason: ModelError,
        /// Time until the next attempt.
        wait: Duration,
    },
    /// The next part of the answer.
    Text(String),
    /// The next part of the model's reasoning.
    Thinking(String),
    /// The user is about to be asked for permission.
    ApprovalRequested,
    /// A tool call starts.
    ToolStarted(ToolCall),
    /// A tool reports its progress.
    ToolProgress {
        /// The call that runs.
        call: ToolCall,
        /// How far it is, in the tool's own words.
        text: String,
    },
    /// A tool prints something.
    ToolPrinted {
        /// The call that runs.
        call: ToolCall,
        /// The last lines that it has printed.
        text: String,
    },
    /// A tool call ended.
    ToolFinished {
        /// The call that ended.
        call: ToolCall,
        /// How the call ended.
        outcome: ToolOutcome,
        /// What it returned.
        result: CallSummary,
    },
    /// A message for the user.
    Notice(String),
    /// A minor degradation, shown only in verbose mode.
    Detail(String),
}

/// The result of a tool call, for the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallSummary {
    /// Text that the model gets.
    pub text: String,
    /// Change of a file, as a unified diff.
    pub diff: Option<String>,
    /// Time that the call took, without the question whether it may run.
    pub duration: Duration,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// The call returned output.
    Succeeded,
    /// The call returned an error, which the model reads.
    Failed,
    /// The call was not allowed. The model reads the reason.
    Refused,
}

/// A callback that receives the events of a turn.
pub type Observer<'a> = &'a mut (dyn FnMut(TurnEvent) + Send);

/// The result of a turn that was committed.
///
/// It serializes to a JSON object with the `type` `result`, which `docs/json.md` describes. The JSON omits `context`
/// and `conversation_cost`.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// Conversation of the exchange.
    pub conversation_id: ConversationId,
    /// Exchange that was stored.
    pub exchange_id: ExchangeId,
    /// How the exchange ended.
    pub status: ExchangeStatus,
    /// Whether the model finished its answer or reached its output limit.
    pub stop: StopReason,
    /// The answer, or the reason why there is none.
    pub text: String,
    /// Recalled passages that were sent with the prompt.
    pub recalled: RecalledPassages,
    /// Sizes of the layers of the last request.
    pub context: Option<ContextReport>,
    /// Name of the model that answered.
    pub model: String,
    /// Total tokens of all model calls, including those of sub-agents.
    pub usage: Usage,
    /// Total cost of these calls, or `None` if a price is unknown.
    pub cost: Option<Usd>,
    /// Number of model calls.
    pub request_count: u64,
    /// Number of tool calls.
    pub tool_call_count: u64,
    /// Duration of the turn in milliseconds.
    pub duration_ms: u64,
    /// Cost of the whole conversation, including this exchange.
    pub conversation_cost: CostSummary,
}
