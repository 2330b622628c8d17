//! Checks for counts over the whole memory.

use std::sync::Arc;

use memoir_core::{DocumentPassage, ExchangeDraft, ExchangeSource, InjectedSubject, Passage, Role, Usd};

use super::{
    documents::{document, lines},
    exchange, new_conversation, timestamp,
};
use crate::{ActivityCount, Forget, Store};

pub async fn activity_is_counted_in_quarters_of_an_hour(store: Arc<dyn Store>) {
    let quarter = ActivityCount::MILLIS;
    let in_codex = ExchangeDraft {
        source: Some(ExchangeSource { program: "codex".into(), session: "1".into() }),
        ..exchange("q", "a", 3 * quarter + 5)
    };
    for (scope, draft) in [
        ("/b", exchange("q", "a", 7)),
        ("/a", exchange("q", "a", quarter)),
        ("/a", exchange("q", "a", 2 * quarter - 1)),
        ("/a", in_codex),
    ] {
        store.commit_exchange(&new_conversation("t", scope), &draft).await.unwrap();
    }
    let count = |slot: i64, exchanges, calls: u64| ActivityCount {
        start: timestamp(slot * quarter),
        exchanges,
        messages: 2 * exchanges,
        tokens: 15 * calls,
        cost: Usd::from_nanos(1500 * i64::try_from(calls).unwrap()),
    };
    // An answer may be complete in the next quarter.
    let expected = [count(1, 2, 1), count(2, 0, 1), count(3, 1, 1)];
    assert_eq!(store.activity(timestamp(quarter)).await.unwrap(), expected);
    assert_eq!(store.projects().await.unwrap(), ["/a", "/b"]);
    assert_eq!(store.programs().await.unwrap(), ["codex"]);
}

pub async fn what_was_recalled_is_listed_until_it_is_deleted(store: Arc<dyn Store>) {
    let source = store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    store.put_document(&document("/p/d.md", "d", "words"), &lines, timestamp(1)).await.unwrap();
    let document = store.document("d").await.unwrap().unwrap();
    let chunk = store.document_chunks(document.id).await.unwrap().remove(0);
    let mut draft = exchange("what?", "this", 5);
    for message in store.exchange_messages(source.exchange_id).await.unwrap() {
        draft.recalled.passages.push(Passage {
            message_id: message.id,
            exchange_id: source.exchange_id,
            conversation_id: source.conversation_id,
            title: "t".into(),
            role: Role::User,
            author: None,
            created: timestamp(1),
            text: "q".into(),
            part: None,
            score: 1.0,
            similarity: 0.5,
            coverage: 0.25,
            superseded: None,
            user_excerpt: String::new(),
            assistant_excerpt: String::new(),
            tokens: 3,
        });
    }
    draft.recalled.documents.push(DocumentPassage {
        chunk_id: chunk.id,
        document: document.clone(),
        text: "words".into(),
        score: 1.0,
        similarity: 0.5,
        coverage: 0.25,
        tokens: 4,
    });
    let asked = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    let items = store.recalled_for(asked.exchange_id).await.unwrap();
    let listed: Vec<_> = items.iter().map(|item| (item.subject, item.tokens)).collect();
    let expected =
        [(InjectedSubject::Exchange(source.exchange_id), 6), (InjectedSubject::Document(document.id), 4)];
    assert_eq!(listed, expected);
    assert_eq!(items[0].reason, "similarity 0.50, words 0.25");
    store.forget(Forget::Exchange(source.exchange_id)).await.unwrap();
    assert_eq!(store.recalled_for(asked.exchange_id).await.unwrap(), items[1..]);
    assert_eq!(store.recalled_for(source.exchange_id).await.unwrap(), []);
}
