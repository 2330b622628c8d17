//! The agent and the session state that every step of a turn needs.

use std::sync::Arc;

use crate::{Agent, AgentState};

/// An agent and the state of the session that runs the turn.
///
/// The steps of a turn are methods of this type, spread over several files.
#[derive(Clone, Copy)]
pub(crate) struct ActiveTurn<'a> {
    pub(crate) agent: &'a Arc<Agent>,
    pub(crate) state: &'a AgentState,
}
