//! Checks for changes the user makes to conversations: marks, forks and retried answers.

use std::sync::Arc;

use memoir_core::{ConversationId, ConversationTarget, Digest, ExchangeId, Mark, PreparedSummary};

use super::{exchange, new_conversation, timestamp};
use crate::{ConversationList, ConversationTitle, Forget, Store, StoreError};

pub async fn marks_last_until_removed_or_deleted(store: Arc<dyn Store>) {
    let target = new_conversation("t", "/p");
    let first = store.commit_exchange(&target, &exchange("one", "two", 1_000)).await.unwrap().exchange_id;
    let second = store.commit_exchange(&target, &exchange("three", "four", 2_000)).await.unwrap().exchange_id;
    assert!(store.set_mark(first, Some(Mark::Pinned), timestamp(5)).await.unwrap());
    assert!(store.set_mark(second, Some(Mark::Wrong), timestamp(6)).await.unwrap());
    assert!(
        !store.set_mark(ExchangeId::new(99), Some(Mark::Wrong), timestamp(6)).await.unwrap(),
        "the exchange does not exist"
    );
    assert!(store.set_mark(first, Some(Mark::Wrong), timestamp(7)).await.unwrap(), "replaces the mark");
    let marks: Vec<_> = store
        .marks()
        .await
        .unwrap()
        .iter()
        .map(|exchange_mark| (exchange_mark.exchange_id, exchange_mark.mark))
        .collect();
    assert_eq!(marks, [(first, Mark::Wrong), (second, Mark::Wrong)]);
    assert!(store.set_mark(first, None, timestamp(8)).await.unwrap());
    assert!(store.exchange_marks(&[first]).await.unwrap().is_empty());
    store.forget(Forget::Exchange(second)).await.unwrap();
    assert!(store.marks().await.unwrap().is_empty());
}

/// Returns a target whose caller has seen no exchange of the conversation.
fn unseen(conversation: ConversationId) -> ConversationTarget {
    ConversationTarget::Existing { conversation, last_seen: None }
}

pub async fn fork_starts_with_its_parents_exchanges(store: Arc<dyn Store>) {
    let first = store
        .commit_exchange(&new_conversation("the plan", "/p"), &exchange("one", "two", 1_000))
        .await
        .unwrap();
    let trunk = first.to_target();
    let fork = store.fork(first.conversation_id, timestamp(1_500)).await.unwrap().unwrap();
    let later = store.commit_exchange(&trunk, &exchange("only in the trunk", "b", 2_000)).await.unwrap();
    store.commit_exchange(&unseen(fork), &exchange("only in the fork", "d", 3_000)).await.unwrap();
    let second_fork = store.fork(fork, timestamp(3_500)).await.unwrap().unwrap();
    let prompts = async |id| {
        let exchanges = store.exchanges(id, 10).await.unwrap();
        exchanges.into_iter().map(|exchange| exchange.user_message).collect::<Vec<_>>()
    };
    assert_eq!(prompts(first.conversation_id).await, ["one", "only in the trunk"]);
    assert_eq!(prompts(fork).await, ["one", "only in the fork"]);
    assert_eq!(prompts(second_fork).await, ["one", "only in the fork"], "a fork of a fork");
    assert_eq!(store.exchanges(second_fork, 1).await.unwrap()[0].user_message, "only in the fork");
    let shown = store.shown_messages(fork, None).await.unwrap();
    assert_eq!(shown.len(), 4);
    assert_eq!(store.shown_messages(fork, Some(first.exchange_id)).await.unwrap().len(), 2);
    assert_eq!(store.messages(fork, 10).await.unwrap(), shown);
    assert!(store.fork(ConversationId::new(99), timestamp(1)).await.unwrap().is_none());

    let titles = store.titles().await.unwrap();
    let all =
        store.conversations(&ConversationList { limit: 10, ..ConversationList::default() }).await.unwrap();
    assert_eq!(titles, all.into_iter().map(ConversationTitle::from).collect::<Vec<_>>());
    assert!(store.is_forked_after(first.conversation_id, first.exchange_id).await.unwrap());
    assert!(!store.is_forked_after(first.conversation_id, later.exchange_id).await.unwrap());
    // A digest can cover the exchanges that a fork shares with its trunk.
    store.request_digest(fork, None, first.exchange_id, timestamp(3_600)).await.unwrap();
    let prepared = PreparedSummary { through: first.exchange_id, summary: "prepared".into() };
    assert!(store.prepare_digest(fork, Some(ExchangeId::new(0)), &prepared, timestamp(3_700)).await.unwrap());
    assert_eq!(store.digest(fork).await.unwrap().unwrap().requested_through, None);
    store
        .forget(Forget::Message(store.exchange_messages(later.exchange_id).await.unwrap()[1].id))
        .await
        .unwrap();
    assert!(
        store.digest(fork).await.unwrap().is_none(),
        "deleting any message of the trunk deletes the digests of its forks"
    );

    // Exchanges deleted in the trunk disappear from its forks, along with digests that cover them.
    let digest = Digest {
        through: first.exchange_id,
        summary: "one, two".into(),
        pinned: Vec::new(),
        prepared: None,
        requested_through: None,
        is_compact: false,
    };
    assert!(store.put_digest(fork, None, &digest, timestamp(4_000)).await.unwrap());
    store.forget(Forget::Exchange(later.exchange_id)).await.unwrap();
    store.forget(Forget::Exchange(first.exchange_id)).await.unwrap();
    assert_eq!(prompts(fork).await, ["only in the fork"]);
    assert!(store.digest(fork).await.unwrap().is_none());
    let conversation = store.conversation(fork).await.unwrap().unwrap();
    assert_eq!((conversation.forked_from, conversation.title != "the plan"), (None, true));
    let outcome = store.forget(Forget::Conversation(fork)).await.unwrap();
    assert_eq!(outcome.conversations, 2, "the second fork has no exchanges of its own");
}

pub async fn fork_survives_deletion_of_its_parent(store: Arc<dyn Store>) {
    let first =
        store.commit_exchange(&new_conversation("a", "/p"), &exchange("in a", "1", 1_000)).await.unwrap();
    let b = store.fork(first.conversation_id, timestamp(2_000)).await.unwrap().unwrap();
    store.commit_exchange(&unseen(b), &exchange("in b", "2", 2_100)).await.unwrap();
    let c = store.fork(b, timestamp(3_000)).await.unwrap().unwrap();
    store.commit_exchange(&unseen(c), &exchange("in c", "3", 3_100)).await.unwrap();
    store.commit_exchange(&first.to_target(), &exchange("later in a", "4", 4_000)).await.unwrap();
    store.forget(Forget::Conversation(b)).await.unwrap();
    let prompts: Vec<_> =
        store.exchanges(c, 10).await.unwrap().into_iter().map(|exchange| exchange.user_message).collect();
    assert_eq!(prompts, ["in a", "in c"], "the exchanges of the first conversation up to the fork remain");
    let empty = store.fork(c, timestamp(5_000)).await.unwrap().unwrap();
    let outcome = store.forget(Forget::Conversation(empty)).await.unwrap();
    assert_eq!((outcome.conversations, outcome.is_empty()), (1, false));
}

pub async fn retried_answer_replaces_the_original(store: Arc<dyn Store>) {
    let first = store
        .commit_exchange(&new_conversation("t", "/p"), &exchange("one", "a poor answer", 1_000))
        .await
        .unwrap();
    let id = first.conversation_id;
    let second = store
        .commit_exchange(
            &ConversationTarget::Replace {
                conversation: id,
                replaced: first.exchange_id,
                last_seen: Some(first.exchange_id),
            },
            &exchange("one", "a better one", 2_000),
        )
        .await
        .unwrap();
    let exchanges = store.exchanges(id, 10).await.unwrap();
    assert_eq!(exchanges.iter().map(|exchange| exchange.id).collect::<Vec<_>>(), [second.exchange_id]);
    assert_eq!(exchanges[0].assistant_message, "a better one");
    let cost = store.conversation_cost(id).await.unwrap();
    assert_eq!(
        cost.cost,
        exchange("", "", 0).cost().unwrap() + exchange("", "", 0).cost().unwrap(),
        "both were paid for"
    );
}

pub async fn commit_conflicts_with_unseen_exchange(store: Arc<dyn Store>) {
    let first =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("one", "1", 1_000)).await.unwrap();
    let id = first.conversation_id;
    let other = store.commit_exchange(&first.to_target(), &exchange("two", "2", 2_000)).await.unwrap();
    let replacing = |replaced| ConversationTarget::Replace {
        conversation: id,
        replaced,
        last_seen: Some(first.exchange_id),
    };
    for target in [first.to_target(), replacing(first.exchange_id), replacing(other.exchange_id), unseen(id)]
    {
        let result = store.commit_exchange(&target, &exchange("three", "3", 3_000)).await;
        let Err(StoreError::Conflict { conversation, newest }) = result else { panic!("{result:?}") };
        assert_eq!((conversation, newest), (id, other.exchange_id));
    }
    let stored: Vec<_> = store.exchanges(id, 10).await.unwrap().iter().map(|exchange| exchange.id).collect();
    assert_eq!(stored, [first.exchange_id, other.exchange_id], "nothing was stored or deleted");
    assert_eq!(store.conversation_cost(id).await.unwrap().calls, 2);

    // A deleted exchange causes no conflict, whether it is unseen or the last one seen.
    store.forget(Forget::Exchange(other.exchange_id)).await.unwrap();
    let third = store.commit_exchange(&first.to_target(), &exchange("three", "3", 3_000)).await.unwrap();
    store.forget(Forget::Exchange(third.exchange_id)).await.unwrap();
    store.commit_exchange(&third.to_target(), &exchange("four", "4", 4_000)).await.unwrap();
    let prompts: Vec<_> =
        store.exchanges(id, 10).await.unwrap().into_iter().map(|exchange| exchange.user_message).collect();
    assert_eq!(prompts, ["one", "four"]);
}
