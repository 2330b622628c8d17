//! The conversation that is being held.

use memoir_core::{ConversationId, ConversationTarget, ExchangeId, NewConversation};
use memoir_redact::without_secrets;

/// The conversation that is being held. It has no id before its first exchange is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentConversation {
    id: Option<ConversationId>,
    scope: String,
    /// The exchange in whose place the next one comes.
    replacing: Option<ExchangeId>,
}

impl CurrentConversation {
    /// A conversation that begins now.
    pub fn begin(scope: impl Into<String>) -> Self {
        Self { id: None, scope: scope.into(), replacing: None }
    }

    /// One that goes on.
    pub fn resume(id: ConversationId, scope: impl Into<String>) -> Self {
        Self { id: Some(id), scope: scope.into(), replacing: None }
    }

    /// Its id, if it has one yet.
    pub fn id(&self) -> Option<ConversationId> {
        self.id
    }

    /// The project it belongs to.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// Has the next exchange come in the place of one, as if that had not been; none takes that back.
    pub fn replace(&mut self, exchange: Option<ExchangeId>) {
        self.replacing = exchange;
    }

    /// The exchange in whose place the next one comes.
    pub fn replacing(&self) -> Option<ExchangeId> {
        self.replacing
    }

    /// Where the exchange that starts with `prompt` is to be committed.
    pub(crate) fn target(&self, prompt: &str) -> ConversationTarget {
        match (self.id, self.replacing) {
            // A title is cut, and half a secret is not known for one.
            (None, _) => {
                ConversationTarget::New(NewConversation::titled_after(&without_secrets(prompt), &self.scope))
            }
            (Some(id), None) => ConversationTarget::Existing(id),
            (Some(id), Some(exchange)) => ConversationTarget::InPlaceOf(id, exchange),
        }
    }

    pub(crate) fn committed_as(&mut self, id: ConversationId) {
        (self.id, self.replacing) = (Some(id), None);
    }
}
