//! Runs one turn of a conversation: builds the context, asks the model, runs its tool calls, and commits the exchange.
//!
//! [`Agent`] is the configuration that all sessions share, [`AgentState`] is the part that a session can change, and
//! [`Agent::run_turn`] runs a turn. It prints nothing: an observer receives every event.

mod active_turn;
mod agent;
mod approval;
mod context;
mod conversation;
mod draft;
mod error;
mod event;
mod images;
mod json;
mod reply;
mod state;
mod subagent;
mod tool_round;
mod turn;

pub use agent::{Agent, Limits};
pub use approval::{
    ApprovalAnswer, ApprovalMode, ApprovalPolicy, ApprovalPrompter, ApprovalRequest, Approvals, Rule,
    RuleEffect, RuleError, Verdict, plain_words,
};
pub use context::{ContextReport, ContextSettings, Layer, Placement};
pub use conversation::CurrentConversation;
pub use error::TurnError;
pub use event::{CallSummary, Observer, ToolOutcome, TurnEvent, TurnReport};
pub use json::RecalledPassage;
pub use state::AgentState;
pub use subagent::{Subagent, SubagentReport};
pub use turn::MAX_PROMPT_BYTES;
