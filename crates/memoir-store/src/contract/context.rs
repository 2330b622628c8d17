//! Checks for core memory and digests.

use std::sync::Arc;

use memoir_core::{
    ChangedBy, ConversationId, CoreBlock, CoreChange, CoreEntry, Digest, ExchangeId, PreparedSummary,
};

use super::{exchange, new_conversation, timestamp};
use crate::{ChangeOutcome, Store};

pub async fn core_memory_rejects_stale_changes_and_can_be_undone(store: Arc<dyn Store>) {
    let blocks = async |project| -> Vec<(String, u64)> {
        let entries = store.core_memory(project).await.unwrap();
        assert_eq!(entries.iter().map(|entry| entry.block).collect::<Vec<_>>(), CoreBlock::ALL);
        entries.into_iter().map(|entry| (entry.text, entry.version)).collect()
    };
    let empty = || (String::new(), 0);
    assert_eq!(blocks("/p").await, [empty(), empty(), empty()]);
    let change = async |project, block: CoreBlock, version, before: &str, text: &str| {
        let previous = CoreEntry { block, text: before.into(), version };
        let change =
            CoreChange { previous, text: text.into(), author: ChangedBy::Model, created: timestamp(1) };
        store.change_core_memory(project, &change).await.unwrap()
    };
    assert_eq!(change("/p", CoreBlock::User, 0, "", "Drinks tea.").await, ChangeOutcome::Applied);
    assert_eq!(change("/p", CoreBlock::Project, 0, "", "Written in Rust.").await, ChangeOutcome::Applied);
    // Of two changes to the same version, the second is rejected, so the first is not lost.
    assert_eq!(
        change("/q", CoreBlock::User, 1, "Drinks tea.", "Drinks green tea.").await,
        ChangeOutcome::Applied
    );
    assert_eq!(
        change("/p", CoreBlock::User, 1, "Drinks tea.", "Drinks coffee.").await,
        ChangeOutcome::Conflict
    );
    assert_eq!(change("/p", CoreBlock::User, 0, "", "Drinks milk.").await, ChangeOutcome::Conflict);
    assert_eq!(change("/p", CoreBlock::Instructions, 3, "unknown", "x").await, ChangeOutcome::Conflict);
    let user = ("Drinks green tea.".to_owned(), 2);
    assert_eq!(blocks("/p").await, [user.clone(), ("Written in Rust.".into(), 1), empty()]);
    assert_eq!(blocks("/q").await, [user, empty(), empty()], "each project has its own block");
    // The latest change that the project sees is undone first.
    let undo = async |project| -> Option<(CoreBlock, String)> {
        let restored = store.undo_core_memory(project, timestamp(2)).await.unwrap();
        restored.map(|entry| (entry.block, entry.text))
    };
    assert_eq!(undo("/q").await, Some((CoreBlock::User, "Drinks tea.".into())));
    assert_eq!(undo("/p").await, Some((CoreBlock::Project, String::new())));
    assert_eq!(undo("/p").await, Some((CoreBlock::User, String::new())));
    assert_eq!(undo("/p").await, None);
    assert_eq!(blocks("/p").await, [(String::new(), 4), (String::new(), 2), empty()]);
}

pub async fn stale_digest_writes_are_rejected(store: Arc<dyn Store>) {
    let draft = exchange("q", "a", 1);
    let committed = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    let (id, first) = (committed.conversation_id, committed.exchange_id);
    assert_eq!(store.digest(id).await.unwrap(), None);
    let digest = |through: ExchangeId, summary: &str| Digest {
        through,
        summary: summary.into(),
        pinned: vec!["Always \"metric\" units.".into()],
        prepared: Some(PreparedSummary {
            through: ExchangeId::new(through.get() + 5),
            summary: "later".into(),
        }),
        requested_through: None,
        is_compact: false,
    };
    let put = async |previous_through, digest: &Digest| {
        store.put_digest(id, previous_through, digest, timestamp(9)).await.unwrap()
    };
    assert!(put(None, &digest(first, "one")).await);
    assert_eq!(store.digest(id).await.unwrap(), Some(digest(first, "one")));
    assert!(!put(None, &digest(first, "two")).await, "a digest exists");
    let next = ExchangeId::new(first.get() + 3);
    assert!(put(Some(first), &Digest { is_compact: true, ..digest(next, "two") }).await);
    assert!(!put(Some(first), &digest(next, "three")).await, "the digest has moved on");
    let compact = Digest { is_compact: true, ..digest(next, "two") };
    assert_eq!(store.digest(id).await.unwrap(), Some(compact.clone()));
    let missing = ConversationId::new(77);
    assert!(!store.put_digest(missing, None, &digest(first, "x"), timestamp(9)).await.unwrap());

    // Preparing a summary leaves the rest of the digest unchanged and requires that its last exchange exists.
    let prepare = async |previous_through, through| {
        let prepared = PreparedSummary { through, summary: "ahead".into() };
        store.prepare_digest(id, previous_through, &prepared, timestamp(9)).await.unwrap()
    };
    assert!(!prepare(Some(first), first).await, "the digest has moved on");
    assert!(!prepare(Some(next), ExchangeId::new(55)).await, "the exchange does not exist");
    assert!(prepare(Some(next), first).await);
    let prepared = Some(PreparedSummary { through: first, summary: "ahead".into() });
    assert_eq!(store.digest(id).await.unwrap(), Some(Digest { prepared, ..compact }));
    let other = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    let prepared = PreparedSummary { through: other.exchange_id, summary: "ahead".into() };
    assert!(store.prepare_digest(other.conversation_id, None, &prepared, timestamp(9)).await.unwrap());
    assert_eq!(store.digest(other.conversation_id).await.unwrap().unwrap().through.get(), 0);
}
