//! One turn, end to end: history, request, tool loop, commit.
//!
//! [`Agent`] holds what every turn needs; [`Agent::run_turn`] is the turn. It prints nothing: what happens
//! is told to an observer, event by event.

mod agent;
mod approval;
mod context;
mod conversation;
mod draft;
mod error;
mod event;
mod reply;
mod subagent;
mod tool_round;
mod turn;

pub use agent::{Agent, Limits};
pub use approval::{
    Answer, Approvals, Asker, Mode, Policy, Question, Rule, RuleEffect, Verdict, plain_words,
};
pub use context::{ContextReport, ContextSettings, Layer, Placement};
pub use conversation::CurrentConversation;
pub use error::TurnError;
pub use event::{Observer, ToolOutcome, TurnEvent, TurnReport};
pub use subagent::{Subagent, SubagentReport};
