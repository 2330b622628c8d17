//! The conversation that is being held.

use memoir_core::{ConversationId, ConversationTarget, ExchangeId, NewConversation};
use memoir_redact::without_secrets;
use memoir_store::{Committed, Exchanges, StoreError};

/// The conversation that is being held. It has no id before its first exchange is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentConversation {
    id: Option<ConversationId>,
    scope: String,
    /// The newest exchange that this session has read or committed.
    last_seen: Option<ExchangeId>,
    /// The exchange in whose place the next one comes.
    replacing: Option<ExchangeId>,
}

impl CurrentConversation {
    /// A conversation that begins now.
    pub fn begin(scope: impl Into<String>) -> Self {
        Self { id: None, scope: scope.into(), last_seen: None, replacing: None }
    }

    /// Resumes a stored conversation, or a fork of one, as it is now.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn resume(
        store: &dyn Exchanges,
        id: ConversationId,
        scope: impl Into<String> + Send,
    ) -> Result<Self, StoreError> {
        let mut conversation = Self { id: Some(id), ..Self::begin(scope) };
        conversation.refresh(store).await?;
        Ok(conversation)
    }

    /// Reads which exchange is the newest now. Call it when the user has seen what was added by others, for example after an
    /// import into this conversation.
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

    /// Returns the newest exchange that this session has read or committed.
    pub fn last_seen(&self) -> Option<ExchangeId> {
        self.last_seen
    }

    /// Where the exchange that starts with `prompt` is to be committed.
    pub(crate) fn target(&self, prompt: &str) -> ConversationTarget {
        let last_seen = self.last_seen;
        match (self.id, self.replacing) {
            // A title is cut, and half a secret is not known for one.
            (None, _) => {
                ConversationTarget::New(NewConversation::titled_after(&without_secrets(prompt), &self.scope))
            }
            (Some(conversation), None) => ConversationTarget::Existing { conversation, last_seen },
            (Some(conversation), Some(replaced)) => {
                ConversationTarget::InPlaceOf { conversation, replaced, last_seen }
            }
        }
    }

    /// Records that the next exchange of this conversation was committed.
    pub(crate) fn record_commit(&mut self, committed: Committed) {
        (self.id, self.last_seen) = (Some(committed.conversation_id), Some(committed.exchange_id));
        self.replacing = None;
    }
}
