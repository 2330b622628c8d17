//! What the layers of a context are built from.

use memoir_models::ModelLimits;
use tokio::time::Instant;

use super::{budget::Budget, window};

/// Tokens that the prompt takes besides its text: a message, and a title behind quotations.
pub(super) const PROMPT_FRAME: u64 = window::PER_MESSAGE + 16;

/// Maximum number of tokens for spelling hints.
pub(super) const SPELLING: u64 = 120;

/// What a context is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltFor {
    /// It is sent. If exchanges leave the window, that is stored.
    Sending,
    /// The user wants to see its size. Nothing is stored.
    Looking,
}

/// What the layers are built from.
#[derive(Clone)]
pub(super) struct BuildInput<'a> {
    pub(super) prompt: &'a str,
    pub(super) limits: ModelLimits,
    pub(super) budget: Budget,
    /// Tokens reserved for quotations from memory.
    pub(super) for_memory: u64,
    pub(super) deadline: Instant,
}
