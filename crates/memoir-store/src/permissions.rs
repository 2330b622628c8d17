//! Permission rules, and the log of secrets that were redacted before storage.

use async_trait::async_trait;
use memoir_core::{ExchangeId, Timestamp};
use serde::Serialize;

use crate::Result;

/// A stored permission rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredRule {
    /// Number that `/approval revoke` accepts.
    pub id: i64,
    /// Either `allow` or `deny`.
    pub effect: String,
    /// Text of the rule.
    pub rule: String,
    /// Project that the rule applies to, or empty for all projects.
    pub scope: String,
}

/// A recorded redaction. The secret itself is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redaction {
    /// Exchange that contained the secret, or `None` if it was elsewhere, such as in the command history.
    pub exchange_id: Option<ExchangeId>,
    /// Part of the content that contained the secret, such as `prompt` or `tool result`.
    pub place: String,
    /// Kind of secret, such as `GitHub token`.
    pub kind: String,
    /// How the secret was recognized.
    pub reason: String,
    /// When the redaction was recorded.
    pub created: Timestamp,
}

/// A redaction to record. It does not contain the secret itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRedaction {
    /// See [`Redaction::place`].
    pub place: &'static str,
    /// See [`Redaction::kind`].
    pub kind: &'static str,
    /// See [`Redaction::reason`].
    pub reason: &'static str,
}

/// A redaction that can be undone, because the secret is still in memory.
#[derive(Clone, PartialEq, Eq)]
pub struct HeldRedaction {
    /// Number that `/redaction --undo` accepts.
    pub number: u32,
    /// Exchange that contained the secret.
    pub exchange_id: ExchangeId,
    /// See [`Redaction::place`].
    pub place: &'static str,
    /// See [`Redaction::kind`].
    pub kind: &'static str,
    /// The text that was redacted.
    pub secret: String,
}

/// Stores permission rules and reads the redaction log.
#[async_trait]
pub trait Permissions: Send + Sync {
    /// Returns the rules that apply to a project, including those for all projects, oldest first.
    async fn approval_rules(&self, scope: &str) -> Result<Vec<StoredRule>>;

    /// Adds a rule, unless the same rule exists already. An empty `scope` means all projects.
    async fn add_approval_rule(&self, effect: &str, rule: &str, scope: &str, now: Timestamp) -> Result<()>;

    /// Deletes a rule. Returns whether it existed.
    async fn remove_approval_rule(&self, id: i64) -> Result<bool>;

    /// Returns the last `limit` redactions, newest first.
    async fn redactions(&self, limit: u32) -> Result<Vec<Redaction>>;
}
