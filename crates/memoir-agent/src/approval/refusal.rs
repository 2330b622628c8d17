//! Why a tool call may not be made.

/// Why a tool call may not be made, in the words that the model reads.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// The mode, a rule or a protected directory forbids it.
    #[error("not allowed: {0}")]
    Denied(String),
    /// Nobody can be asked.
    #[error("not allowed: nobody is there to allow it; --approval or a rule in the config would")]
    NobodyToAsk,
    /// The user was asked and refused.
    #[error("not allowed: the user does not allow it")]
    ByTheUser,
    /// The call would do something else than what the user was shown.
    #[error("what it would do has changed since it was allowed; ask again")]
    Changed,
}
