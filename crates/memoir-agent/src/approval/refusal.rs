//! Reasons why a tool call may not run.

/// Reason why a tool call may not run. The model reads its text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("not allowed: {0}")]
    Denied(String),
    /// The call needs approval, and no front end can ask the user.
    #[error(
        "not allowed: it needs approval, and the user cannot be asked; allow it with `--approval` or a rule in the config"
    )]
    CannotAsk,
    /// The call changes a protected path, and no front end can ask the user.
    #[error(
        "not allowed: files such as this make other programs run code or instruct agents, so the user is asked each time, and cannot be asked now"
    )]
    CannotAskEachTime,
    #[error("not allowed: the user denied it")]
    DeniedByUser,
    /// The effects of the call have changed since it was allowed.
    #[error("the effects of this call have changed since it was allowed; call the tool again")]
    Changed,
}
