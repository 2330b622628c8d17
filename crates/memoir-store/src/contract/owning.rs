//! What the user makes of his memory: marks, forks, answers that replace others.

use std::sync::Arc;

use memoir_core::{ConversationId, ConversationTarget, Digest, ExchangeId, Mark, Prepared};

use super::{exchange, new_conversation, timestamp};
use crate::{ConversationList, ConversationTitle, Forget, Store, StoreError};

pub async fn marks_stand_until_they_are_taken_away_or_forgotten(store: Arc<dyn Store>) {
    let talk = new_conversation("t", "/p");
    let first = store.commit_exchange(&talk, &exchange("one", "two", 1_000)).await.unwrap().exchange_id;
    let second = store.commit_exchange(&talk, &exchange("three", "four", 2_000)).await.unwrap().exchange_id;
    assert!(store.mark(first, Some(Mark::Pinned), timestamp(5)).await.unwrap());
    assert!(store.mark(second, Some(Mark::Wrong), timestamp(6)).await.unwrap());
    assert!(
        !store.mark(ExchangeId::new(99), Some(Mark::Wrong), timestamp(6)).await.unwrap(),
        "there is no such"
    );
    assert!(store.mark(first, Some(Mark::Wrong), timestamp(7)).await.unwrap(), "another in its place");
    let marks: Vec<_> =
        store.marks().await.unwrap().iter().map(|marked| (marked.exchange_id, marked.mark)).collect();
    assert_eq!(marks, [(first, Mark::Wrong), (second, Mark::Wrong)]);
    assert!(store.mark(first, None, timestamp(8)).await.unwrap());
    assert!(store.marks_of(&[first]).await.unwrap().is_empty());
    store.forget(Forget::Exchange(second)).await.unwrap();
    assert!(store.marks().await.unwrap().is_empty());
}

/// A conversation in which nothing has been committed yet.
fn unread(conversation: ConversationId) -> ConversationTarget {
    ConversationTarget::Existing { conversation, last_seen: None }
}

pub async fn a_fork_goes_on_from_what_was_said(store: Arc<dyn Store>) {
    let first = store
        .commit_exchange(&new_conversation("the plan", "/p"), &exchange("one", "two", 1_000))
        .await
        .unwrap();
    let trunk = first.to_target();
    let fork = store.fork(first.conversation_id, timestamp(1_500)).await.unwrap().unwrap();
    let later = store.commit_exchange(&trunk, &exchange("only in the trunk", "b", 2_000)).await.unwrap();
    store.commit_exchange(&unread(fork), &exchange("only in the fork", "d", 3_000)).await.unwrap();
    let again = store.fork(fork, timestamp(3_500)).await.unwrap().unwrap();
    let asked = async |id| {
        let exchanges = store.exchanges(id, 10).await.unwrap();
        exchanges.into_iter().map(|exchange| exchange.user_message).collect::<Vec<_>>()
    };
    assert_eq!(asked(first.conversation_id).await, ["one", "only in the trunk"]);
    assert_eq!(asked(fork).await, ["one", "only in the fork"]);
    assert_eq!(asked(again).await, ["one", "only in the fork"], "a fork of a fork");
    assert_eq!(store.exchanges(again, 1).await.unwrap()[0].user_message, "only in the fork");
    let shown = store.shown_messages(fork, None).await.unwrap();
    assert_eq!(shown.len(), 4);
    assert_eq!(store.shown_messages(fork, Some(first.exchange_id)).await.unwrap().len(), 2);
    assert_eq!(store.messages(fork, 10).await.unwrap(), shown);
    assert!(store.fork(memoir_core::ConversationId::new(99), timestamp(1)).await.unwrap().is_none());

    let titles = store.titles().await.unwrap();
    let all =
        store.conversations(&ConversationList { limit: 10, ..ConversationList::default() }).await.unwrap();
    assert_eq!(titles, all.into_iter().map(ConversationTitle::from).collect::<Vec<_>>());
    assert!(store.is_forked_after(first.conversation_id, first.exchange_id).await.unwrap());
    assert!(!store.is_forked_after(first.conversation_id, later.exchange_id).await.unwrap());
    // A summary of what a fork has from its trunk is asked for and kept.
    store.want_digest(fork, None, first.exchange_id, timestamp(3_600)).await.unwrap();
    let prepared = Prepared { through: first.exchange_id, summary: "prepared".into() };
    assert!(store.prepare_digest(fork, Some(ExchangeId::new(0)), &prepared, timestamp(3_700)).await.unwrap());
    assert_eq!(store.digest(fork).await.unwrap().unwrap().wanted, None);
    store
        .forget(Forget::Message(store.exchange_messages(later.exchange_id).await.unwrap()[1].id))
        .await
        .unwrap();
    assert!(store.digest(fork).await.unwrap().is_none(), "what is noted of a line goes with anything in it");

    // What is forgotten in the trunk is forgotten in its forks, with what was noted of it there.
    let digest = Digest {
        through: first.exchange_id,
        summary: "one, two".into(),
        pinned: Vec::new(),
        prepared: None,
        wanted: None,
    };
    assert!(store.put_digest(fork, None, &digest, timestamp(4_000)).await.unwrap());
    store.forget(Forget::Exchange(later.exchange_id)).await.unwrap();
    store.forget(Forget::Exchange(first.exchange_id)).await.unwrap();
    assert_eq!(asked(fork).await, ["only in the fork"]);
    assert!(store.digest(fork).await.unwrap().is_none());
    let left = store.conversation(fork).await.unwrap().unwrap();
    assert_eq!((left.forked_from, left.title != "the plan"), (None, true));
    let forgotten = store.forget(Forget::Conversation(fork)).await.unwrap();
    assert_eq!(forgotten.conversations, 2, "nothing was said in the second fork");
}

pub async fn a_line_of_forks_holds_when_its_middle_goes(store: Arc<dyn Store>) {
    let first =
        store.commit_exchange(&new_conversation("a", "/p"), &exchange("in a", "1", 1_000)).await.unwrap();
    let (a, mut asked) = (first.conversation_id, Vec::new());
    let b = store.fork(a, timestamp(2_000)).await.unwrap().unwrap();
    store.commit_exchange(&unread(b), &exchange("in b", "2", 2_100)).await.unwrap();
    let c = store.fork(b, timestamp(3_000)).await.unwrap().unwrap();
    store.commit_exchange(&unread(c), &exchange("in c", "3", 3_100)).await.unwrap();
    store.commit_exchange(&first.to_target(), &exchange("later in a", "4", 4_000)).await.unwrap();
    store.forget(Forget::Conversation(b)).await.unwrap();
    asked.extend(store.exchanges(c, 10).await.unwrap().into_iter().map(|exchange| exchange.user_message));
    assert_eq!(
        asked,
        ["in a", "in c"],
        "what was said in the first is still there, up to where it branched off"
    );
    let empty = store.fork(c, timestamp(5_000)).await.unwrap().unwrap();
    let forgotten = store.forget(Forget::Conversation(empty)).await.unwrap();
    assert_eq!((forgotten.conversations, forgotten.is_nothing()), (1, false));
}

pub async fn an_answer_takes_the_place_of_another(store: Arc<dyn Store>) {
    let first = store
        .commit_exchange(&new_conversation("t", "/p"), &exchange("one", "a poor answer", 1_000))
        .await
        .unwrap();
    let id = first.conversation_id;
    let second = store
        .commit_exchange(
            &ConversationTarget::InPlaceOf {
                conversation: id,
                replaced: first.exchange_id,
                last_seen: Some(first.exchange_id),
            },
            &exchange("one", "a better one", 2_000),
        )
        .await
        .unwrap();
    let left = store.exchanges(id, 10).await.unwrap();
    assert_eq!(left.iter().map(|exchange| exchange.id).collect::<Vec<_>>(), [second.exchange_id]);
    assert_eq!(left[0].assistant_message, "a better one");
    let cost = store.conversation_cost(id).await.unwrap();
    assert_eq!(
        cost.cost,
        exchange("", "", 0).cost().unwrap() + exchange("", "", 0).cost().unwrap(),
        "both were paid for"
    );
}

pub async fn a_commit_conflicts_with_an_exchange_it_has_not_seen(store: Arc<dyn Store>) {
    let first =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("one", "1", 1_000)).await.unwrap();
    let id = first.conversation_id;
    let other = store.commit_exchange(&first.to_target(), &exchange("two", "2", 2_000)).await.unwrap();
    let replacing = |replaced| ConversationTarget::InPlaceOf {
        conversation: id,
        replaced,
        last_seen: Some(first.exchange_id),
    };
    for target in [first.to_target(), replacing(first.exchange_id), replacing(other.exchange_id), unread(id)]
    {
        let refused = store.commit_exchange(&target, &exchange("three", "3", 3_000)).await;
        let Err(StoreError::Conflict { conversation, newest }) = refused else { panic!("{refused:?}") };
        assert_eq!((conversation, newest), (id, other.exchange_id));
    }
    let stored: Vec<_> = store.exchanges(id, 10).await.unwrap().iter().map(|exchange| exchange.id).collect();
    assert_eq!(stored, [first.exchange_id, other.exchange_id], "nothing was stored or deleted");
    assert_eq!(store.conversation_cost(id).await.unwrap().calls, 2);

    // A deleted exchange cannot conflict, neither one that was not seen nor the one that was seen last.
    store.forget(Forget::Exchange(other.exchange_id)).await.unwrap();
    let third = store.commit_exchange(&first.to_target(), &exchange("three", "3", 3_000)).await.unwrap();
    store.forget(Forget::Exchange(third.exchange_id)).await.unwrap();
    store.commit_exchange(&third.to_target(), &exchange("four", "4", 4_000)).await.unwrap();
    let asked: Vec<_> =
        store.exchanges(id, 10).await.unwrap().into_iter().map(|exchange| exchange.user_message).collect();
    assert_eq!(asked, ["one", "four"]);
}
