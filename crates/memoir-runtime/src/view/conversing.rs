//! Conversations that pass through Memoir on their way to a model.

use std::sync::Arc;

use memoir_core::{ConversationId, ConversationTarget, Exchange, ExchangeDraft, ExchangeId, NewConversation};
use memoir_store::{CommittedExchange, StoreError};

use super::MemoryView;
use crate::{failure::Failure, models::Models};

/// How many times an exchange is added to a conversation that another program adds to at the same time.
const MAX_ATTEMPTS: usize = 5;

/// The conversation that an exchange belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    /// A new one.
    New,
    /// The one that this exchange ended. If others have followed it, the program has gone back, which begins a new one.
    After(CommittedExchange),
    /// This one, whatever was added to it.
    In(ConversationId),
}

impl MemoryView {
    /// Returns the models to which conversations are passed on.
    pub fn models(&self) -> &Arc<Models> {
        self.runtime.models()
    }

    /// Returns the exchange with a key, if it belongs to a conversation of the program's project.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn find_continuation(&self, key: &str) -> Result<Option<CommittedExchange>, Failure> {
        let Some(committed) = self.runtime.store().continuation(key).await? else { return Ok(None) };
        let conversation = self.conversation(committed.conversation_id).await?;
        Ok(conversation.filter(|conversation| conversation.scope == self.project()).map(|_| committed))
    }

    /// Stores an exchange that passed through, and the keys by which the program will continue from it.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn store_passing(
        &self,
        thread: Thread,
        draft: &ExchangeDraft,
        keys: impl Fn(ConversationId) -> Vec<String>,
    ) -> Result<CommittedExchange, Failure> {
        let store = self.runtime.store();
        let new =
            || ConversationTarget::New(NewConversation::titled_after(&draft.user_message, self.project()));
        let mut attempts = 0;
        let committed = loop {
            attempts += 1;
            let target = match thread {
                Thread::New => new(),
                Thread::After(committed) if attempts == 1 => committed.to_target(),
                Thread::In(conversation) if attempts <= MAX_ATTEMPTS => {
                    let last_seen = store.exchanges(conversation, 1).await?.pop().map(|exchange| exchange.id);
                    ConversationTarget::Existing { conversation, last_seen }
                }
                Thread::After(_) | Thread::In(_) => new(),
            };
            match store.commit_exchange(&target, draft).await {
                // It was deleted, or somebody else has added to it.
                Err(StoreError::Conflict { .. } | StoreError::NotFound { .. })
                    if attempts <= MAX_ATTEMPTS + 1 => {}
                result => break result?,
            }
        };
        store.put_continuations(committed.exchange_id, &keys(committed.conversation_id)).await?;
        Ok(committed)
    }

    /// Embeds an exchange that was just stored.
    pub async fn embed_stored(&self, exchange: ExchangeId) {
        if let Err(error) = self.recall.embed_exchange(exchange).await {
            // The next session embeds it.
            tracing::warn!(%error, "could not embed an exchange");
        }
    }

    /// Returns a number that grows with every deletion, so that copies of memory can be dropped.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn deletion_count(&self) -> Result<i64, Failure> {
        Ok(self.runtime.store().deletion_count().await?)
    }

    /// Returns the last exchange of a conversation.
    pub(super) async fn last_exchange(
        &self,
        conversation: ConversationId,
    ) -> Result<Option<Exchange>, Failure> {
        Ok(self.runtime.store().exchanges(conversation, 1).await?.pop())
    }
}
