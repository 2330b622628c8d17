//! Checks for conversations, exchanges and their messages.

use std::sync::Arc;

use memoir_core::{
    ConversationId, ConversationTarget, DraftMessage, ExchangeId, ExchangeStatus, MessageBody, Provenance,
    ToolCall, Visibility,
};
use serde_json::json;

use super::{draft_message, exchange, new_conversation, timestamp};
use crate::{ConversationList, CostFilter, Span, Store, StoreError};

pub async fn exchange_is_read_back_as_committed(store: Arc<dyn Store>) {
    let mut draft = exchange("Read the file", "It says hello", 1000);
    let calls =
        vec![ToolCall { id: "c1".into(), name: "file_read".into(), arguments: json!({"path": "a.txt"}) }];
    let hidden =
        |body| DraftMessage { visibility: Visibility::Hidden, by_others: true, ..draft_message(body, 1005) };
    draft.messages.insert(1, hidden(MessageBody::Assistant { text: String::new(), tool_calls: calls }));
    draft.messages.insert(
        2,
        hidden(MessageBody::Tool {
            call_id: "c1".into(),
            tool_name: "file_read".into(),
            text: "hello".into(),
        }),
    );
    draft.messages[3].provenance = Provenance::Derived;
    draft.status = ExchangeStatus::Stopped;
    draft.error = Some("stopped".into());
    draft.tool_call_count = 1;

    let committed = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    let stored = store.exchanges(committed.conversation_id, 10).await.unwrap();
    assert_eq!(stored.len(), 1);
    let stored = &stored[0];
    assert_eq!((stored.id, stored.conversation_id), (committed.exchange_id, committed.conversation_id));
    assert_eq!((stored.status, stored.error.as_deref()), (ExchangeStatus::Stopped, Some("stopped")));
    assert_eq!((stored.started, stored.completed), (draft.started, draft.completed));
    assert_eq!(stored.user_message, draft.user_message);
    assert_eq!(stored.assistant_message, draft.assistant_message);
    assert_eq!((stored.usage, stored.cost), (draft.usage(), draft.cost()));
    assert_eq!((stored.tool_call_count, stored.request_count), (1, 1));

    assert_eq!(store.exchange(committed.exchange_id).await.unwrap().as_ref(), Some(stored));
    assert_eq!(store.exchange(ExchangeId::new(77)).await.unwrap(), None);

    let messages = store.messages(committed.conversation_id, 10).await.unwrap();
    assert_eq!(store.exchange_messages(committed.exchange_id).await.unwrap(), messages);
    let stored_drafts: Vec<DraftMessage> = messages
        .iter()
        .map(|message| DraftMessage {
            author: message.author.clone(),
            body: message.body.clone(),
            visibility: message.visibility,
            provenance: message.provenance,
            by_others: message.by_others,
            tokens: message.tokens,
            created: message.created,
        })
        .collect();
    assert_eq!(stored_drafts, draft.messages);
    assert!(messages.iter().all(|message| message.exchange_id == committed.exchange_id));
}

pub async fn first_exchange_creates_the_conversation(store: Arc<dyn Store>) {
    let all = ConversationList { scope: None, limit: 10, ..ConversationList::default() };
    assert!(store.conversations(&all).await.unwrap().is_empty());

    let first =
        store.commit_exchange(&new_conversation("one", "/a"), &exchange("q", "a", 1000)).await.unwrap();
    let second =
        store.commit_exchange(&new_conversation("two", "/b"), &exchange("q", "a", 2000)).await.unwrap();
    assert_ne!(second.conversation_id, first.conversation_id);
    store.commit_exchange(&first.to_target(), &exchange("q2", "a2", 3000)).await.unwrap();

    let titles: Vec<_> = store.conversations(&all).await.unwrap().into_iter().map(|c| c.title).collect();
    assert_eq!(titles, ["one", "two"], "most recently updated first");
    let in_b = ConversationList { scope: Some("/b".into()), limit: 10, ..ConversationList::default() };
    assert_eq!(store.conversations(&in_b).await.unwrap()[0].id, second.conversation_id);
    let conversation = store.conversation(first.conversation_id).await.unwrap().unwrap();
    assert_eq!(
        (conversation.exchange_count, conversation.created, conversation.updated),
        (2, timestamp(1000), timestamp(3010))
    );
    let missing = ConversationId::new(77);
    assert_eq!(store.conversations_by_id(&[missing, first.conversation_id]).await.unwrap(), [conversation]);
}

pub async fn commit_to_missing_conversation_fails(store: Arc<dyn Store>) {
    let missing = ConversationTarget::Existing { conversation: ConversationId::new(77), last_seen: None };
    let result = store.commit_exchange(&missing, &exchange("q", "a", 1)).await;
    assert!(matches!(result, Err(StoreError::NotFound { id: 77, .. })), "{result:?}");
    assert!(store.titles().await.unwrap().is_empty());
    assert!(store.transcript(&Span::default(), 10).await.unwrap().is_empty());
    assert!(
        store.cost_lines(&CostFilter::default()).await.unwrap().is_empty(),
        "nothing was committed partially"
    );
}

pub async fn newest_exchanges_are_returned_oldest_first(store: Arc<dyn Store>) {
    let mut target = new_conversation("t", "/p");
    for number in 0..5 {
        let draft = exchange(&format!("q{number}"), &format!("a{number}"), number * 100);
        let committed = store.commit_exchange(&target, &draft).await.unwrap();
        target = committed.to_target();
    }
    let ConversationTarget::Existing { conversation: id, .. } = target else {
        unreachable!("the conversation exists after five commits")
    };
    let questions: Vec<_> =
        store.exchanges(id, 2).await.unwrap().into_iter().map(|e| e.user_message).collect();
    assert_eq!(questions, ["q3", "q4"]);
    let texts: Vec<_> =
        store.messages(id, 2).await.unwrap().into_iter().map(|m| m.body.text().to_owned()).collect();
    assert_eq!(texts, ["q3", "a3", "q4", "a4"]);

    // Messages that are sent again start after the given exchange and do not include hidden ones.
    let mut draft = exchange("q5", "a5", 500);
    draft.messages[0].visibility = Visibility::Hidden;
    store.commit_exchange(&target, &draft).await.unwrap();
    let third = store.exchanges(id, 4).await.unwrap()[1].id;
    let shown = async |after| -> Vec<String> {
        let messages = store.shown_messages(id, after).await.unwrap();
        messages.into_iter().map(|message| message.body.text().to_owned()).collect()
    };
    assert_eq!(shown(Some(third)).await, ["q4", "a4", "a5"]);
    assert_eq!(shown(None).await.len(), 11);
    assert_eq!(store.shown_messages(ConversationId::new(99), None).await.unwrap(), []);
}

pub async fn concurrent_writers_lose_nothing(store: Arc<dyn Store>) {
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let question = format!("question {number}");
                store.append_command(&question, timestamp(number)).await.unwrap();
                store
                    .commit_exchange(&new_conversation("t", "/p"), &exchange(&question, "a", number))
                    .await
                    .unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let all = ConversationList { scope: None, limit: 100, ..ConversationList::default() };
    assert_eq!(store.conversations(&all).await.unwrap().len(), 20);
    assert_eq!(store.recent_commands(100).await.unwrap().len(), 20);
}
