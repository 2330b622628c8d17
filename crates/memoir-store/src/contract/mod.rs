//! The contract of a store: what every implementation must do, as tests over the traits.
//!
//! Call [`run`] with a way to make an empty store. A failing check panics and names itself.

#![expect(clippy::unwrap_used, reason = "this module is a test suite; a failure is meant to panic")]

mod context;
mod documents;
mod forgetting;
mod owning;
mod permissions;
mod schedules;
mod search;
mod work;

use std::{future::Future, sync::Arc};

use memoir_core::{
    CallCost, ConversationId, ConversationTarget, DraftMessage, ExchangeDraft, ExchangeId, ExchangeStatus,
    MessageBody, NewConversation, Provenance, Purpose, Recalled, Subject, Timestamp, ToolCall, Usage, Usd,
    Visibility,
};
use serde_json::json;

use crate::{ConversationList, CostFilter, Embeddable, NewEmbedding, Store, StoreError};

/// Runs the whole suite, each check on a store of its own.
pub async fn run<S, F>(empty_store: impl Fn() -> F)
where
    S: Store + 'static,
    F: Future<Output = S>,
{
    an_exchange_comes_back_as_it_was_committed(empty_store().await).await;
    a_conversation_comes_with_its_first_exchange(empty_store().await).await;
    a_vanished_conversation_takes_no_exchange(empty_store().await).await;
    the_window_is_the_newest_exchanges_oldest_first(empty_store().await).await;
    search::words_find_what_was_said_and_nothing_else(empty_store().await).await;
    search::rarer_words_and_more_of_them_count_more(empty_store().await).await;
    search::no_word_is_a_syntax_error(empty_store().await).await;
    search::filters_are_part_of_every_search(empty_store().await).await;
    search::vectors_find_the_nearest_and_only_once(empty_store().await).await;
    context::core_memory_is_changed_by_who_has_seen_it_and_undone(empty_store().await).await;
    context::a_digest_is_replaced_by_who_has_seen_it(empty_store().await).await;
    work::work_is_taken_on_once_and_comes_back_when_it_failed(empty_store().await).await;
    work::a_conversation_that_grew_is_summarised_again(empty_store().await).await;
    work::vectors_are_made_once_and_follow_their_texts(empty_store().await).await;
    work::a_digest_is_asked_for_and_made(empty_store().await).await;
    documents::a_document_is_filed_changed_and_forgotten(empty_store().await).await;
    documents::chunks_are_found_by_meaning_words_and_time(empty_store().await).await;
    documents::chunks_get_their_vectors_once(empty_store().await).await;
    documents::what_was_said_is_read_by_conversation_and_time(empty_store().await).await;
    documents::posts_keep_to_their_project(empty_store().await).await;
    documents::what_was_brought_in_is_known_again(empty_store().await).await;
    forgetting::what_is_forgotten_is_gone_and_the_rest_is_there(empty_store().await).await;
    owning::marks_stand_until_they_are_taken_away_or_forgotten(empty_store().await).await;
    owning::a_fork_goes_on_from_what_was_said(empty_store().await).await;
    owning::a_line_of_forks_holds_when_its_middle_goes(empty_store().await).await;
    owning::an_answer_takes_the_place_of_another(empty_store().await).await;
    owning::a_commit_conflicts_with_an_exchange_it_has_not_seen(empty_store().await).await;
    permissions::rules_are_kept_for_a_project_or_everywhere(empty_store().await).await;
    permissions::secrets_are_not_kept_and_what_was_found_is_told(empty_store().await).await;
    permissions::questions_in_sql_read_and_no_more(empty_store().await).await;
    schedules::a_run_is_begun_once_and_its_outcome_is_kept(empty_store().await).await;
    schedules::a_task_waits_is_set_and_goes_with_its_runs(empty_store().await).await;
    settings_are_kept_changed_and_removed(empty_store().await).await;
    command_history_keeps_order_and_skips_repetition(empty_store().await).await;
    costs_add_up_and_unknown_prices_are_counted(empty_store().await).await;
    tables_are_listed_with_their_sizes(empty_store().await).await;
    writers_side_by_side_lose_nothing(Arc::new(empty_store().await)).await;
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn said(body: MessageBody, created: i64) -> DraftMessage {
    DraftMessage {
        author: None,
        body,
        visibility: Visibility::Shown,
        provenance: Provenance::Said,
        by_others: false,
        tokens: 4,
        created: at(created),
    }
}

fn user(text: &str) -> MessageBody {
    MessageBody::User { text: text.into() }
}

fn assistant(text: &str) -> MessageBody {
    MessageBody::Assistant { text: text.into(), tool_calls: Vec::new() }
}

/// A plain question and answer at a moment.
pub fn exchange(question: &str, answer: &str, moment: i64) -> ExchangeDraft {
    ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: at(moment),
        completed: at(moment + 10),
        user_message: question.into(),
        assistant_message: answer.into(),
        model: "test/model".into(),
        messages: vec![said(user(question), moment), said(assistant(answer), moment + 10)],
        calls: vec![call(Some(Usd::from_nanos(1500)), moment + 10)],
        recalled: Recalled::default(),
        tool_call_count: 0,
        error: None,
    }
}

fn call(cost: Option<Usd>, moment: i64) -> CallCost {
    CallCost {
        purpose: Purpose::Chat,
        model: "test/model".into(),
        usage: Usage {
            input_tokens: 10,
            output_tokens: 5,
            cached_tokens: 4,
            cache_write_tokens: 2,
            reasoning_tokens: 1,
        },
        cost,
        created: at(moment),
    }
}

/// A conversation that does not exist yet.
pub fn new_conversation(title: &str, scope: &str) -> ConversationTarget {
    ConversationTarget::New(NewConversation { title: title.into(), scope: scope.into() })
}

async fn an_exchange_comes_back_as_it_was_committed(store: impl Store) {
    let mut draft = exchange("Read the file", "It says hello", 1000);
    let calls =
        vec![ToolCall { id: "c1".into(), name: "file_read".into(), arguments: json!({"path": "a.txt"}) }];
    let redacted =
        |body| DraftMessage { visibility: Visibility::Redacted, by_others: true, ..said(body, 1005) };
    draft.messages.insert(1, redacted(MessageBody::Assistant { text: String::new(), tool_calls: calls }));
    draft.messages.insert(
        2,
        redacted(MessageBody::Tool {
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
    let comparable: Vec<DraftMessage> = messages
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
    assert_eq!(comparable, draft.messages);
    assert!(messages.iter().all(|message| message.exchange_id == committed.exchange_id));
}

async fn a_conversation_comes_with_its_first_exchange(store: impl Store) {
    let all = ConversationList { scope: None, limit: 10, ..ConversationList::default() };
    assert!(store.conversations(&all).await.unwrap().is_empty());

    let first =
        store.commit_exchange(&new_conversation("one", "/a"), &exchange("q", "a", 1000)).await.unwrap();
    let second =
        store.commit_exchange(&new_conversation("two", "/b"), &exchange("q", "a", 2000)).await.unwrap();
    assert!(second.conversation_id > first.conversation_id);
    let again = first.to_target();
    store.commit_exchange(&again, &exchange("q2", "a2", 3000)).await.unwrap();

    let listed: Vec<_> = store.conversations(&all).await.unwrap().into_iter().map(|c| c.title).collect();
    assert_eq!(listed, ["one", "two"], "the one that was used last comes first");
    let in_b = ConversationList { scope: Some("/b".into()), limit: 10, ..ConversationList::default() };
    assert_eq!(store.conversations(&in_b).await.unwrap()[0].id, second.conversation_id);
    let one = store.conversation(first.conversation_id).await.unwrap().unwrap();
    assert_eq!((one.exchange_count, one.created, one.updated), (2, at(1000), at(3010)));
    let gone = ConversationId::new(77);
    assert_eq!(store.conversations_by_id(&[gone, first.conversation_id]).await.unwrap(), [one]);
}

async fn a_vanished_conversation_takes_no_exchange(store: impl Store) {
    let gone = ConversationTarget::Existing { conversation: ConversationId::new(77), last_seen: None };
    let refused = store.commit_exchange(&gone, &exchange("q", "a", 1)).await;
    assert!(matches!(refused, Err(StoreError::NotFound { id: 77, .. })), "{refused:?}");
    assert!(store.tables().await.unwrap().iter().all(|table| table.rows == 0));
}

async fn the_window_is_the_newest_exchanges_oldest_first(store: impl Store) {
    let mut target = new_conversation("t", "/p");
    for number in 0..5 {
        let draft = exchange(&format!("q{number}"), &format!("a{number}"), number * 100);
        let committed = store.commit_exchange(&target, &draft).await.unwrap();
        target = committed.to_target();
    }
    let ConversationTarget::Existing { conversation: id, .. } = target else {
        unreachable!("five exchanges were committed")
    };
    let questions: Vec<_> =
        store.exchanges(id, 2).await.unwrap().into_iter().map(|e| e.user_message).collect();
    assert_eq!(questions, ["q3", "q4"]);
    let texts: Vec<_> =
        store.messages(id, 2).await.unwrap().into_iter().map(|m| m.body.text().to_owned()).collect();
    assert_eq!(texts, ["q3", "a3", "q4", "a4"]);

    // What is sent again: from an exchange on, without what was redacted.
    let mut draft = exchange("q5", "a5", 500);
    draft.messages[0].visibility = Visibility::Redacted;
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

async fn settings_are_kept_changed_and_removed(store: impl Store) {
    assert_eq!(store.setting("model").await.unwrap(), None);
    store.set_setting("model", Some("a"), at(1)).await.unwrap();
    store.set_setting("model", Some("b"), at(2)).await.unwrap();
    assert_eq!(store.setting("model").await.unwrap().as_deref(), Some("b"));
    store.set_setting("model", None, at(3)).await.unwrap();
    assert_eq!(store.setting("model").await.unwrap(), None);
}

async fn command_history_keeps_order_and_skips_repetition(store: impl Store) {
    for line in ["one", "two", "two", "one\nmore"] {
        store.append_command(line, at(1)).await.unwrap();
    }
    assert_eq!(store.recent_commands(10).await.unwrap(), ["one", "two", "one\nmore"]);
    assert_eq!(store.recent_commands(1).await.unwrap(), ["one\nmore"]);
}

async fn costs_add_up_and_unknown_prices_are_counted(store: impl Store) {
    let mut draft = exchange("q", "a", 1000);
    draft.calls =
        vec![call(Some(Usd::from_nanos(700)), 1), call(Some(Usd::from_nanos(300)), 2), call(None, 3)];
    let committed = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    store.commit_exchange(&new_conversation("other", "/p"), &exchange("q", "a", 1)).await.unwrap();

    let summary = store.conversation_cost(committed.conversation_id).await.unwrap();
    assert_eq!((summary.calls, summary.unpriced_calls), (3, 1));
    assert_eq!(summary.cost, Usd::from_nanos(1000));
    assert_eq!(summary.usage, draft.usage());

    // A call that belongs to no exchange counts too.
    let mut failed = call(Some(Usd::from_nanos(5000)), 9_000_000);
    failed.model = "other/model".into();
    store.record_calls(Some(committed.conversation_id), &[failed]).await.unwrap();
    let all = store.cost_lines(&CostFilter::default()).await.unwrap();
    let spent: Vec<_> = all.iter().map(|line| (line.model.as_str(), line.summary.cost.as_nanos())).collect();
    assert_eq!(spent, [("other/model", 5000), ("test/model", 2500)], "the dearest first");
    let recent = CostFilter { since: Some(at(9_000_000)), conversation: None };
    assert_eq!(store.cost_lines(&recent).await.unwrap().len(), 1);
    assert_eq!(store.conversation_cost(committed.conversation_id).await.unwrap().cost, Usd::from_nanos(6000));
}

async fn tables_are_listed_with_their_sizes(store: impl Store) {
    store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let tables = store.tables().await.unwrap();
    let rows = |name: &str| tables.iter().find(|table| table.name == name).map(|table| table.rows);
    assert_eq!(rows("conversations"), Some(1));
    assert_eq!(rows("messages"), Some(2));
    assert_eq!(rows("command_history"), Some(0));
    assert!(tables.iter().all(|table| !table.name.starts_with('_') && !table.name.contains("_text")));
}

async fn writers_side_by_side_lose_nothing<S: Store + 'static>(store: Arc<S>) {
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let question = format!("question {number}");
                store.append_command(&question, at(number)).await.unwrap();
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

/// A vector of what said `text`.
pub fn embedding(subject: Subject, vector: &[f32], text: &str) -> NewEmbedding {
    NewEmbedding { subject, vector: vector.to_vec(), text: text.to_owned() }
}

/// Vectors of a model called "m", of messages of at least so many tokens.
pub fn embeddable(shortest: u32) -> Embeddable<'static> {
    Embeddable { model: "m", shortest }
}
