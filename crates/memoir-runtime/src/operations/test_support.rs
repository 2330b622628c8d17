//! Fixtures for the tests of operations: a store with a few conversations.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::Arc;

use memoir_core::{
    ConversationTarget, DraftMessage, ExchangeDraft, ExchangeId, ExchangeStatus, MessageBody,
    NewConversation, Provenance, RecalledPassages, SystemClock, TimeZone, Timestamp, Visibility,
};
use memoir_embed::LocalEmbedder;
use memoir_recall::Recall;
use memoir_store::{CommittedExchange, Exchanges as _, Store};

pub(super) use memoir_store_sqlite::SqliteStore as TestStore;

/// Timestamp of every stored message.
pub(super) const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// Returns a store with one conversation per prompt, each answered with "Noted.".
pub(super) async fn store_with(prompts: &[&str]) -> (TestStore, Vec<CommittedExchange>) {
    let store = TestStore::in_memory().await.unwrap();
    let mut committed = Vec::new();
    for prompt in prompts {
        let conversation = NewConversation { title: (*prompt).to_owned(), scope: "/p".into() };
        let target = ConversationTarget::New(conversation);
        committed.push(store.commit_exchange(&target, &exchange(prompt)).await.unwrap());
    }
    (store, committed)
}

/// Stores one conversation with an exchange per prompt.
pub(crate) async fn converse(store: &dyn Store, prompts: &[&str]) -> Vec<ExchangeId> {
    let conversation = NewConversation { title: "A conversation".into(), scope: "/p".into() };
    let mut target = ConversationTarget::New(conversation);
    let mut ids = Vec::new();
    for prompt in prompts {
        let committed = store.commit_exchange(&target, &exchange(prompt)).await.unwrap();
        ids.push(committed.exchange_id);
        target = committed.to_target();
    }
    ids
}

pub(super) async fn recall_with(prompts: &[&str]) -> (Recall, Vec<CommittedExchange>) {
    let (store, committed) = store_with(prompts).await;
    (recall_on(&store), committed)
}

pub(super) fn recall_on(store: &TestStore) -> Recall {
    let embedder = Arc::new(LocalEmbedder);
    Recall::new(Arc::new(store.clone()), embedder, Arc::new(SystemClock), TimeZone::UTC)
}

fn exchange(prompt: &str) -> ExchangeDraft {
    let answer = "Noted.";
    ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: NOW,
        completed: NOW,
        user_message: prompt.to_owned(),
        assistant_message: answer.to_owned(),
        model: "test/model".to_owned(),
        messages: vec![
            message(MessageBody::User { text: prompt.to_owned() }),
            message(MessageBody::Assistant { text: answer.to_owned(), tool_calls: Vec::new() }),
        ],
        calls: Vec::new(),
        recalled: RecalledPassages::default(),
        tool_call_count: 0,
        error: None,
        source: None,
    }
}

fn message(body: MessageBody) -> DraftMessage {
    DraftMessage {
        author: None,
        body,
        visibility: Visibility::Shown,
        provenance: Provenance::Original,
        by_others: false,
        tokens: 4,
        created: NOW,
    }
}
