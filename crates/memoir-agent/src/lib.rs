//! One turn, end to end: context, model, tools, commit.
//!
//! [`Agent`] is the configuration that all sessions share, [`AgentState`] is what one session may change, and
//! [`Agent::run_turn`] is the turn. It prints nothing: an observer receives every event.

mod active_turn;
mod agent;
mod approval;
mod context;
mod conversation;
mod draft;
mod error;
mod event;
mod json;
mod reply;
mod state;
mod subagent;
mod tool_round;
mod turn;

pub use agent::{Agent, Limits};
pub use approval::{
    Answer, Approvals, Asker, Mode, Policy, Question, Rule, RuleEffect, RuleError, Verdict, plain_words,
};
pub use context::{ContextReport, ContextSettings, Layer, Placement};
pub use conversation::CurrentConversation;
pub use error::TurnError;
pub use event::{Observer, ToolOutcome, TurnEvent, TurnReport};
pub use json::RecalledPassage;
pub use state::AgentState;
pub use subagent::{Subagent, SubagentReport};
