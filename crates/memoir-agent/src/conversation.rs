//! The current conversation of a session.

use memoir_core::{ConversationId, ConversationTarget, ExchangeId, NewConversation};
use memoir_redact::without_secrets;
use memoir_store::{CommittedExchange, Exchanges, StoreError};

/// The conversation that the next turn of a session continues. It has no id before its first exchange is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentConversation {
    id: Option<ConversationId>,
    scope: String,
    last_seen: Option<ExchangeId>,
    replacing: Option<ExchangeId>,
}

impl CurrentConversation {
    /// Starts a new conversation in the project `scope`.
    pub fn new(scope: impl Into<String>) -> Self {
        Self { id: None, scope: scope.into(), last_seen: None, replacing: None }
    }

    /// Resumes a stored conversation or fork at its newest exchange.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn resume(
        store: &dyn Exchanges,
        id: ConversationId,
        scope: impl Into<String> + Send,
    ) -> Result<Self, StoreError> {
        let mut conversation = Self { id: Some(id), ..Self::new(scope) };
        conversation.refresh(store).await?;
        Ok(conversation)
    }

    /// Reads the newest exchange from the store again. Call this once the user has seen what another session or an
    /// import added to the conversation.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn refresh(&mut self, store: &dyn Exchanges) -> Result<(), StoreError> {
        if let Some(id) = self.id {
            self.last_seen = store.exchanges(id, 1).await?.pop().map(|last| last.id);
        }
        Ok(())
    }

    /// Returns the id, or `None` before the first commit.
    pub fn id(&self) -> Option<ConversationId> {
        self.id
    }

    /// Returns the project that the conversation belongs to.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// Makes the next exchange replace `exchange`. Pass `None` to cancel the replacement.
    pub fn replace(&mut self, exchange: Option<ExchangeId>) {
        self.replacing = exchange;
    }

    /// Returns the exchange that the next one replaces.
    pub fn replacing(&self) -> Option<ExchangeId> {
        self.replacing
    }

    /// Returns the newest exchange that this session has read or committed.
    pub fn last_seen(&self) -> Option<ExchangeId> {
        self.last_seen
    }

    /// Returns the target for committing the exchange that starts with `prompt`.
    pub(crate) fn target(&self, prompt: &str) -> ConversationTarget {
        let last_seen = self.last_seen;
        match (self.id, self.replacing) {
            // Redact before the title is shortened, because half a secret would not be recognized later.
            (None, _) => {
                ConversationTarget::New(NewConversation::titled_after(&without_secrets(prompt), &self.scope))
            }
            (Some(conversation), None) => ConversationTarget::Existing { conversation, last_seen },
            (Some(conversation), Some(replaced)) => {
                ConversationTarget::Replace { conversation, replaced, last_seen }
            }
        }
    }

    pub(crate) fn record_commit(&mut self, committed: CommittedExchange) {
        (self.id, self.last_seen) = (Some(committed.conversation_id), Some(committed.exchange_id));
        self.replacing = None;
    }
}
