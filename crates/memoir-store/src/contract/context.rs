//! Core memory and digests.

use std::sync::Arc;

use memoir_core::{
    ChangedBy, ConversationId, CoreBlock, CoreChange, CoreEntry, Digest, ExchangeId, Prepared,
};

use super::{exchange, new_conversation, timestamp};
use crate::{Change, Store};

pub async fn core_memory_is_changed_by_who_has_seen_it_and_undone(store: Arc<dyn Store>) {
    let blocks = async |project| -> Vec<(String, u64)> {
        let entries = store.core_memory(project).await.unwrap();
        assert_eq!(entries.iter().map(|entry| entry.block).collect::<Vec<_>>(), CoreBlock::ALL);
        entries.into_iter().map(|entry| (entry.text, entry.version)).collect()
    };
    let nothing = || (String::new(), 0);
    assert_eq!(blocks("/p").await, [nothing(), nothing(), nothing()]);
    let change = async |project, block: CoreBlock, version, before: &str, text: &str| {
        let seen = CoreEntry { block, text: before.into(), version };
        let change = CoreChange { seen, text: text.into(), by: ChangedBy::Model, at: timestamp(1) };
        store.change_core_memory(project, &change).await.unwrap()
    };
    assert_eq!(change("/p", CoreBlock::User, 0, "", "Drinks tea.").await, Change::Made);
    assert_eq!(change("/p", CoreBlock::Project, 0, "", "Written in Rust.").await, Change::Made);
    // Two who have seen the same: the second is told, and nothing of the first's is lost.
    assert_eq!(change("/q", CoreBlock::User, 1, "Drinks tea.", "Drinks green tea.").await, Change::Made);
    assert_eq!(change("/p", CoreBlock::User, 1, "Drinks tea.", "Drinks coffee.").await, Change::Overtaken);
    assert_eq!(change("/p", CoreBlock::User, 0, "", "Drinks milk.").await, Change::Overtaken);
    assert_eq!(change("/p", CoreBlock::Instructions, 3, "what is not there", "x").await, Change::Overtaken);
    let user = ("Drinks green tea.".to_owned(), 2);
    assert_eq!(blocks("/p").await, [user.clone(), ("Written in Rust.".into(), 1), nothing()]);
    assert_eq!(blocks("/q").await, [user, nothing(), nothing()], "a project's block is its own");
    // Undone in the order in which they were made, as far as this project sees them.
    let undo = async |project| -> Option<(CoreBlock, String)> {
        let undone = store.undo_core_memory(project, timestamp(2)).await.unwrap();
        undone.map(|entry| (entry.block, entry.text))
    };
    assert_eq!(undo("/q").await, Some((CoreBlock::User, "Drinks tea.".into())));
    assert_eq!(undo("/p").await, Some((CoreBlock::Project, String::new())));
    assert_eq!(undo("/p").await, Some((CoreBlock::User, String::new())));
    assert_eq!(undo("/p").await, None);
    assert_eq!(blocks("/p").await, [(String::new(), 4), (String::new(), 2), nothing()]);
}

pub async fn a_digest_is_replaced_by_who_has_seen_it(store: Arc<dyn Store>) {
    let draft = exchange("q", "a", 1);
    let committed = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    let (id, first) = (committed.conversation_id, committed.exchange_id);
    assert_eq!(store.digest(id).await.unwrap(), None);
    let digest = |through: ExchangeId, summary: &str| Digest {
        through,
        summary: summary.into(),
        pinned: vec!["Always \"metric\" units.".into()],
        prepared: Some(Prepared { through: ExchangeId::new(through.get() + 5), summary: "later".into() }),
        wanted: None,
    };
    let put = async |seen, digest: &Digest| store.put_digest(id, seen, digest, timestamp(9)).await.unwrap();
    assert!(put(None, &digest(first, "one")).await);
    assert_eq!(store.digest(id).await.unwrap(), Some(digest(first, "one")));
    assert!(!put(None, &digest(first, "two")).await, "there is one already");
    let next = ExchangeId::new(first.get() + 3);
    assert!(put(Some(first), &digest(next, "two")).await);
    assert!(!put(Some(first), &digest(next, "three")).await, "it goes further by now");
    assert_eq!(store.digest(id).await.unwrap(), Some(digest(next, "two")));
    let gone = ConversationId::new(77);
    assert!(!store.put_digest(gone, None, &digest(first, "x"), timestamp(9)).await.unwrap());

    // A summary made ahead changes nothing else, and is of what is there.
    let prepare = async |seen, through| {
        let prepared = Prepared { through, summary: "ahead".into() };
        store.prepare_digest(id, seen, &prepared, timestamp(9)).await.unwrap()
    };
    assert!(!prepare(Some(first), first).await, "it goes further by now");
    assert!(!prepare(Some(next), ExchangeId::new(55)).await, "there is no such exchange");
    assert!(prepare(Some(next), first).await);
    let prepared = Some(Prepared { through: first, summary: "ahead".into() });
    assert_eq!(store.digest(id).await.unwrap(), Some(Digest { prepared, ..digest(next, "two") }));
    let other = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    let prepared = Prepared { through: other.exchange_id, summary: "ahead".into() };
    assert!(store.prepare_digest(other.conversation_id, None, &prepared, timestamp(9)).await.unwrap());
    assert_eq!(store.digest(other.conversation_id).await.unwrap().unwrap().through.get(), 0);
}
