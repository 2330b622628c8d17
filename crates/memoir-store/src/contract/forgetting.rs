//! Checks for deleting content.

use std::sync::Arc;

use super::{exchange, new_conversation, timestamp};
use crate::{Forget, ForgetOutcome, Store};

pub async fn forgetting_deletes_only_the_selection(store: Arc<dyn Store>) {
    let target = new_conversation("the first", "/p");
    let first = store.commit_exchange(&target, &exchange("one", "two", 1_000)).await.unwrap();
    let second = store.commit_exchange(&first.to_target(), &exchange("three", "four", 2_000)).await.unwrap();
    store.commit_exchange(&new_conversation("other", "/p"), &exchange("five", "six", 3_000)).await.unwrap();
    store.append_command("three", timestamp(1)).await.unwrap();

    let selection = Forget::Exchange(second.exchange_id);
    let preview = store.preview_forget(selection).await.unwrap();
    assert_eq!((preview.exchanges, preview.messages, preview.lines, preview.conversations), (1, 2, 1, 0));
    assert_eq!(
        store.exchanges(first.conversation_id, 10).await.unwrap().len(),
        2,
        "a preview deletes nothing"
    );
    let outcome = store.forget(selection).await.unwrap();
    assert_eq!(ForgetOutcome { traces_remain: preview.traces_remain, ..outcome }, preview);
    assert!(store.exchange(second.exchange_id).await.unwrap().is_none());
    assert!(store.recent_commands(5).await.unwrap().is_empty());
    let conversation = store.conversation(first.conversation_id).await.unwrap().unwrap();
    assert_ne!(conversation.title, "the first", "the title may describe the deleted exchange");
    assert!(store.preview_forget(selection).await.unwrap().is_empty());

    // Deleting one message keeps the exchange; deleting the last one deletes it.
    let messages = store.exchange_messages(first.exchange_id).await.unwrap();
    store.forget(Forget::Message(messages[0].id)).await.unwrap();
    let remaining = store.exchange(first.exchange_id).await.unwrap().unwrap();
    assert_eq!((remaining.user_message.as_str(), remaining.assistant_message.as_str()), ("", "two"));
    let outcome = store.forget(Forget::Message(messages[1].id)).await.unwrap();
    assert_eq!((outcome.exchanges, outcome.conversations), (1, 1));
    let outcome = store
        .forget(Forget::Span { since: Some(timestamp(2_500)), until: Some(timestamp(3_001)) })
        .await
        .unwrap();
    assert_eq!((outcome.exchanges, outcome.conversations, outcome.messages), (1, 1, 2));
}
