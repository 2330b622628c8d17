//! Checks for settings, the command history and costs.

use std::sync::Arc;

use memoir_core::Usd;

use super::{call, exchange, new_conversation, timestamp};
use crate::{CostFilter, Store};

pub async fn settings_are_stored_changed_and_removed(store: Arc<dyn Store>) {
    assert_eq!(store.setting("model").await.unwrap(), None);
    store.set_setting("model", Some("a"), timestamp(1)).await.unwrap();
    store.set_setting("model", Some("b"), timestamp(2)).await.unwrap();
    assert_eq!(store.setting("model").await.unwrap().as_deref(), Some("b"));
    store.set_setting("model", None, timestamp(3)).await.unwrap();
    assert_eq!(store.setting("model").await.unwrap(), None);
    for key in ["rag.limit", "rag", "ragtime.limit", "rag/limit", "rag.enabled"] {
        store.set_setting(key, Some("3"), timestamp(4)).await.unwrap();
    }
    let expected = ["rag.enabled", "rag.limit"].map(|key| (key.to_owned(), "3".to_owned()));
    assert_eq!(store.settings_in("rag").await.unwrap(), expected);
    assert_eq!(store.settings_in("model").await.unwrap(), []);
}

pub async fn command_history_keeps_order_and_skips_repeats(store: Arc<dyn Store>) {
    for line in ["one", "two", "two", "one\nmore"] {
        store.append_command(line, timestamp(1)).await.unwrap();
    }
    assert_eq!(store.recent_commands(10).await.unwrap(), ["one", "two", "one\nmore"]);
    assert_eq!(store.recent_commands(1).await.unwrap(), ["one\nmore"]);
}

pub async fn costs_add_up_and_unknown_prices_are_counted(store: Arc<dyn Store>) {
    let mut draft = exchange("q", "a", 1000);
    draft.calls =
        vec![call(Some(Usd::from_nanos(700)), 1), call(Some(Usd::from_nanos(300)), 2), call(None, 3)];
    let committed = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    store.commit_exchange(&new_conversation("other", "/p"), &exchange("q", "a", 1)).await.unwrap();

    let summary = store.conversation_cost(committed.conversation_id).await.unwrap();
    assert_eq!((summary.calls, summary.unpriced_calls), (3, 1));
    assert_eq!(summary.cost, Usd::from_nanos(1000));
    assert_eq!(summary.usage, draft.usage());

    // A call outside any exchange counts too.
    let mut failed = call(Some(Usd::from_nanos(5000)), 9_000_000);
    failed.model = "other/model".into();
    store.record_calls(Some(committed.conversation_id), &[failed]).await.unwrap();
    let all = store.cost_lines(&CostFilter::default()).await.unwrap();
    let costs: Vec<_> = all.iter().map(|line| (line.model.as_str(), line.summary.cost.as_nanos())).collect();
    assert_eq!(costs, [("other/model", 5000), ("test/model", 2500)], "most expensive first");
    let recent = CostFilter { since: Some(timestamp(9_000_000)), conversation: None };
    assert_eq!(store.cost_lines(&recent).await.unwrap().len(), 1);
    assert_eq!(store.conversation_cost(committed.conversation_id).await.unwrap().cost, Usd::from_nanos(6000));
}
