//! Forgetting what was said.

use std::sync::Arc;

use super::{exchange, new_conversation, timestamp};
use crate::{Forget, Forgotten, Store};

pub async fn what_is_forgotten_is_gone_and_the_rest_is_there(store: Arc<dyn Store>) {
    let talk = new_conversation("the first", "/p");
    let first = store.commit_exchange(&talk, &exchange("one", "two", 1_000)).await.unwrap();
    let goes_on = first.to_target();
    let second = store.commit_exchange(&goes_on, &exchange("three", "four", 2_000)).await.unwrap();
    store.commit_exchange(&new_conversation("other", "/p"), &exchange("five", "six", 3_000)).await.unwrap();
    store.append_command("three", timestamp(1)).await.unwrap();

    let what = Forget::Exchange(second.exchange_id);
    let would = store.would_forget(what).await.unwrap();
    assert_eq!((would.exchanges, would.messages, would.lines, would.conversations), (1, 2, 1, 0));
    assert_eq!(store.exchanges(first.conversation_id, 10).await.unwrap().len(), 2, "nothing was changed");
    let forgotten = store.forget(what).await.unwrap();
    assert_eq!(Forgotten { traces_are_left: would.traces_are_left, ..forgotten }, would);
    assert!(store.exchange(second.exchange_id).await.unwrap().is_none());
    assert!(store.recent_commands(5).await.unwrap().is_empty());
    let left = store.conversation(first.conversation_id).await.unwrap().unwrap();
    assert_ne!(left.title, "the first", "a title may tell of it");
    assert!(store.would_forget(what).await.unwrap().is_nothing());

    // Of an exchange one side may go; with the other it is gone.
    let messages = store.exchange_messages(first.exchange_id).await.unwrap();
    store.forget(Forget::Message(messages[0].id)).await.unwrap();
    let half = store.exchange(first.exchange_id).await.unwrap().unwrap();
    assert_eq!((half.user_message.as_str(), half.assistant_message.as_str()), ("", "two"));
    let forgotten = store.forget(Forget::Message(messages[1].id)).await.unwrap();
    assert_eq!((forgotten.exchanges, forgotten.conversations), (1, 1));
    let forgotten = store
        .forget(Forget::Span { since: Some(timestamp(2_500)), until: Some(timestamp(3_001)) })
        .await
        .unwrap();
    assert_eq!((forgotten.exchanges, forgotten.conversations, forgotten.messages), (1, 1, 2));
}
