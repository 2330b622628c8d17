//! What is always allowed or never, and what was taken out of what is kept.

use async_trait::async_trait;
use memoir_core::{ExchangeId, Timestamp};
use serde::Serialize;

use crate::Result;

/// A rule as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptRule {
    /// Its number.
    pub id: i64,
    /// `allow` or `deny`.
    pub effect: String,
    /// What it is about, as it is written.
    pub rule: String,
    /// The project it holds in; everywhere, if empty.
    pub scope: String,
}

/// A secret that was not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redaction {
    /// In which exchange; none for a line that was typed.
    pub exchange_id: Option<ExchangeId>,
    /// Where it stood.
    pub place: String,
    /// What it was.
    pub kind: String,
    /// Why it was taken for that.
    pub reason: String,
    /// When.
    pub created: Timestamp,
}

/// A secret that was removed from content before it was stored, without the secret itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRedaction {
    /// The part of the content it was in, such as `prompt` or `tool result`.
    pub place: &'static str,
    /// What it was, such as `GitHub token`.
    pub kind: &'static str,
    /// How it was recognised.
    pub reason: &'static str,
}

/// Keeping rules, and telling of redactions.
#[async_trait]
pub trait Permissions: Send + Sync {
    /// Returns the rules of a project and those that hold everywhere, oldest first.
    async fn approval_rules(&self, scope: &str) -> Result<Vec<KeptRule>>;

    /// Keeps a rule for a project, or for everywhere. One that is there already stays as it is.
    async fn add_approval_rule(&self, effect: &str, rule: &str, scope: &str, now: Timestamp) -> Result<()>;

    /// Takes a rule back. Says whether there was one.
    async fn remove_approval_rule(&self, id: i64) -> Result<bool>;

    /// Returns the last `limit` redactions, the one recorded last first.
    async fn redactions(&self, limit: u32) -> Result<Vec<Redaction>>;
}
