//! The conversation that is being held.

use memoir_core::{ConversationId, ConversationTarget, NewConversation};
use memoir_redact::without_secrets;

/// The conversation that is being held. It has no id before its first exchange is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentConversation {
    id: Option<ConversationId>,
    scope: String,
}

impl CurrentConversation {
    /// A conversation that begins now.
    pub fn begin(scope: impl Into<String>) -> Self {
        Self { id: None, scope: scope.into() }
    }

    /// One that goes on.
    pub fn resume(id: ConversationId, scope: impl Into<String>) -> Self {
        Self { id: Some(id), scope: scope.into() }
    }

    /// Its id, if it has one yet.
    pub fn id(&self) -> Option<ConversationId> {
        self.id
    }

    /// The project it belongs to.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// Where the exchange that starts with `prompt` is to be committed.
    pub(crate) fn target(&self, prompt: &str) -> ConversationTarget {
        self.id.map_or_else(
            // A title is cut, and half a secret is not known for one.
            || ConversationTarget::New(NewConversation::titled_after(&without_secrets(prompt), &self.scope)),
            ConversationTarget::Existing,
        )
    }

    pub(crate) fn committed_as(&mut self, id: ConversationId) {
        self.id = Some(id);
    }
}
