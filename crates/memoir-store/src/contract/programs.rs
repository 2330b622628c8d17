//! Checks for what is kept about other programs: injections and transcripts.

use std::sync::Arc;

use memoir_core::{
    AccessToken, ExchangeDraft, ExchangeSource, InjectedItem, InjectedSubject, Injection, Right, TokenScope,
};

use super::{
    documents::{document, lines},
    exchange, new_conversation, timestamp,
};
use crate::{Forget, Store, Transcript};

pub async fn injections_forget_what_was_deleted(store: Arc<dyn Store>) {
    let target = new_conversation("talk", "/p");
    let committed = store.commit_exchange(&target, &exchange("q", "a", 1)).await.unwrap();
    store.put_document(&document("/p/d.md", "d", "words"), &lines, timestamp(1)).await.unwrap();
    let id = store.document("d").await.unwrap().unwrap().id;
    let item = |subject| InjectedItem { subject, reason: "similarity 0.50".into(), tokens: 7 };
    let injection = |scope: &str, items: Vec<InjectedItem>| Injection {
        source: ExchangeSource { program: "codex".into(), session: "s1".into() },
        scope: scope.into(),
        event: "UserPromptSubmit".into(),
        created: timestamp(5),
        items,
    };
    let items = [InjectedSubject::Exchange(committed.exchange_id), InjectedSubject::Document(id)].map(item);
    let first = injection("/p", items.to_vec());
    store.record_injection(&first).await.unwrap();
    store.record_injection(&injection("/q", Vec::new())).await.unwrap();
    assert_eq!(store.injections(Some("/p"), 10).await.unwrap(), std::slice::from_ref(&first));
    assert_eq!(store.injections(None, 1).await.unwrap()[0].scope, "/q", "the latest comes first");
    store.forget(Forget::Exchange(committed.exchange_id)).await.unwrap();
    let left = injection("/p", items[1..].to_vec());
    assert_eq!(store.injections(Some("/p"), 10).await.unwrap(), [left]);
    store.record_injection(&first).await.unwrap();
    assert_eq!(store.injections(Some("/p"), 1).await.unwrap()[0].items, items[1..], "it has been deleted");
}

pub async fn states_of_transcripts_are_replaced(store: Arc<dyn Store>) {
    let state = |size| Transcript { path: "/a/1.jsonl".into(), size, modified: timestamp(3) };
    assert_eq!(store.transcript_state("/a/1.jsonl").await.unwrap(), None);
    store.put_transcript(&state(1)).await.unwrap();
    store.put_transcript(&state(2)).await.unwrap();
    assert_eq!(store.transcript_state("/a/1.jsonl").await.unwrap(), Some(state(2)));
}

pub async fn exchanges_that_are_stored_are_recognized(store: Arc<dyn Store>) {
    let said = |prompt, program: &str, moment| ExchangeDraft {
        source: Some(ExchangeSource { program: program.into(), session: "1".into() }),
        ..exchange(prompt, "an answer", moment)
    };
    let stored = said("it's \"quoted\"", "codex", 1);
    store.commit_exchange(&new_conversation("talk", "/p"), &stored).await.unwrap();
    let longer = ExchangeDraft { completed: timestamp(99), ..stored.clone() };
    let own = ExchangeDraft { source: None, ..stored.clone() };
    let [text, zed, later] =
        [("another", "codex", 1), ("it's \"quoted\"", "zed", 1), ("it's \"quoted\"", "codex", 2)]
            .map(|(prompt, program, moment)| said(prompt, program, moment));
    let are_stored = store.are_stored(&[text, stored, zed, later, longer, own]).await.unwrap();
    assert_eq!(are_stored, [false, true, false, false, false, false]);
}

pub async fn tokens_are_found_by_hash_until_they_are_revoked(store: Arc<dyn Store>) {
    let token = |name: &str, scope| AccessToken {
        name: name.into(),
        scope,
        rights: vec![Right::Read, Right::Forget],
        created: timestamp(7),
    };
    let phone = token("phone", TokenScope::Projects(vec!["/p".into(), "/q".into()]));
    let laptop = token("laptop", TokenScope::All);
    assert!(store.add_token(&phone, "hash of phone").await.unwrap());
    assert!(store.add_token(&laptop, "hash of laptop").await.unwrap());
    assert!(!store.add_token(&token("phone", TokenScope::All), "another").await.unwrap());
    assert_eq!(store.token_with_hash("hash of phone").await.unwrap(), Some(phone.clone()));
    assert_eq!(store.token_with_hash("another").await.unwrap(), None);
    assert_eq!(store.tokens().await.unwrap(), [laptop.clone(), phone]);
    assert!(store.revoke_token("phone").await.unwrap());
    assert!(!store.revoke_token("phone").await.unwrap());
    assert_eq!(store.token_with_hash("hash of phone").await.unwrap(), None);
    assert_eq!(store.tokens().await.unwrap(), [laptop]);
}

pub async fn continuations_lead_to_the_latest_exchange_until_it_is_deleted(store: Arc<dyn Store>) {
    let target = new_conversation("talk", "/p");
    let first = store.commit_exchange(&target, &exchange("q", "a", 1)).await.unwrap();
    let second = store.commit_exchange(&first.to_target(), &exchange("q2", "a2", 2)).await.unwrap();
    let keys = ["one", "two"].map(str::to_owned);
    store.put_continuations(first.exchange_id, &keys).await.unwrap();
    store.put_continuations(second.exchange_id, &keys[1..]).await.unwrap();
    assert_eq!(store.continuation("one").await.unwrap(), Some(first));
    assert_eq!(store.continuation("two").await.unwrap(), Some(second));
    assert_eq!(store.continuation("three").await.unwrap(), None);
    let before = store.deletion_count().await.unwrap();
    store.forget(Forget::Exchange(second.exchange_id)).await.unwrap();
    assert!(store.deletion_count().await.unwrap() > before);
    assert_eq!(store.continuation("two").await.unwrap(), None);
    store.put_document(&document("/p/d.md", "d", "words"), &lines, timestamp(1)).await.unwrap();
    let id = store.document("d").await.unwrap().unwrap().id;
    let mut counts = vec![store.deletion_count().await.unwrap()];
    store.set_document_shared(id, true).await.unwrap();
    assert_eq!(store.deletion_count().await.unwrap(), counts[0], "more is visible, not less");
    store.set_document_shared(id, false).await.unwrap();
    counts.push(store.deletion_count().await.unwrap());
    store.delete_document(id).await.unwrap();
    counts.push(store.deletion_count().await.unwrap());
    assert!(counts.is_sorted_by(|one, next| one < next), "{counts:?}");
    store.put_continuations(second.exchange_id, &keys).await.unwrap();
    assert_eq!(store.continuation("two").await.unwrap(), None, "it no longer exists");
}

pub async fn changes_are_listed_once(store: Arc<dyn Store>) {
    let commit = async |text: &str| {
        store.commit_exchange(&new_conversation(text, "/p"), &exchange(text, "a", 1)).await.unwrap()
    };
    commit("before").await;
    let start = store.change_mark().await.unwrap();
    let committed = [commit("one").await, commit("two").await, commit("three").await];
    let first = store.changes_since(start, 2).await.unwrap();
    assert_eq!(first.exchanges, committed[..2]);
    let second = store.changes_since(first.mark, 2).await.unwrap();
    assert_eq!(second.exchanges, committed[2..]);
    assert_eq!(store.changes_since(second.mark, 2).await.unwrap().exchanges, []);
    store.put_document(&document("/p/d.md", "d", "words"), &lines, timestamp(1)).await.unwrap();
    let with_document = store.changes_since(second.mark, 2).await.unwrap().mark;
    assert_ne!(with_document.documents, second.mark.documents);
    assert_eq!(with_document.deletions, second.mark.deletions);
    store.forget(Forget::Exchange(committed[2].exchange_id)).await.unwrap();
    let after = store.changes_since(with_document, 2).await.unwrap();
    assert_ne!(after.mark.deletions, with_document.deletions);
    commit("four").await;
    assert_eq!(store.changes_since(after.mark, 2).await.unwrap().exchanges.len(), 1);
}
