//! The input from which a context is built.

use memoir_models::ModelLimits;
use tokio::time::Instant;

use super::{budget::Budget, prompt::Prompt, window};

/// Tokens of the prompt besides its text: for the message, and for a heading after quotations.
pub(super) const PROMPT_OVERHEAD: u64 = window::TOKENS_PER_MESSAGE + 16;

pub(super) const MAX_SPELLING_TOKENS: u64 = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuildPurpose {
    /// The context is sent. If exchanges leave the window, the new digest is stored.
    Send,
    /// The context is only measured. Nothing is stored.
    Preview,
}

#[derive(Clone)]
pub(super) struct BuildInput<'a> {
    pub(super) prompt: Prompt<'a>,
    pub(super) limits: ModelLimits,
    pub(super) budget: Budget,
    /// Tokens reserved for recalled passages.
    pub(super) memory_budget: u64,
    pub(super) deadline: Instant,
}
