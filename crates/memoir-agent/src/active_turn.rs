//! What every part of a turn works with.

use std::sync::Arc;

use crate::{Agent, AgentState};

/// An agent and the state of the session whose turn it is.
///
/// The parts of a turn are methods on it, each in its own file.
#[derive(Clone, Copy)]
pub(crate) struct ActiveTurn<'a> {
    pub(crate) agent: &'a Arc<Agent>,
    pub(crate) state: &'a AgentState,
}
