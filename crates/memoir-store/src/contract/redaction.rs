//! Checks that the redaction layer removes secrets and records what it removed.

use std::sync::Arc;

use memoir_core::{
    ChangedBy, ConversationTarget, CoreBlock, CoreChange, CoreEntry, Digest, DocumentKind, ExchangeDraft,
    ExchangeSource, MessageBody, NewConversation, NewTask, PreparedSummary, RunOutcome, RunState, Schedule,
    Subject, SubjectKind, Summary, ToolCall, WorkerKind,
};
use serde_json::json;

use super::{draft_message, embeddable, exchange, new_conversation, timestamp};
use crate::{ChunkSpan, Claim, ConversationSummary, JobFailure, NewDocument, NewImport, NewRun, Store};

/// Returns a string that looks like a GitHub token.
fn secret() -> String {
    format!("ghp_{}", "Zy9xW7vU5tS3rQ1pN9mL7kJ5hG3fE1dC9bA7")
}

#[track_caller]
fn assert_clean(text: &str) {
    assert!(!text.contains(&secret()) && text.contains("[redacted: "), "{text}");
}

pub async fn secrets_in_an_exchange_are_recorded_once_per_message(store: Arc<dyn Store>) {
    let key = secret();
    let draft = exchange(&format!("My token is {key}"), &format!("Keep {key} safe"), 5_000);
    let committed = store.commit_exchange(&new_conversation(&key, "/p"), &draft).await.unwrap();
    let stored = store.exchange(committed.exchange_id).await.unwrap().unwrap();
    let messages = store.exchange_messages(committed.exchange_id).await.unwrap();
    let title = store.conversation(committed.conversation_id).await.unwrap().unwrap().title;
    assert_clean(&format!("{stored:?}{messages:?}{title}"));
    let redactions = store.redactions(10).await.unwrap();
    assert_eq!(redactions.len(), 2, "one per message");
    assert!(redactions.iter().all(|redaction| redaction.exchange_id == Some(committed.exchange_id)
        && !format!("{redaction:?}").contains(&key)));
    assert_eq!(store.redactions(1).await.unwrap().len(), 1);
}

pub async fn secrets_in_tool_calls_are_removed(store: Arc<dyn Store>) {
    let mut draft = exchange("Log in", "Done", 1);
    let arguments = json!({"header": secret(), "password": "hunter2-hunter2", "list": [secret()]});
    let calls = vec![ToolCall { id: "c".into(), name: "execute_bash".into(), arguments }];
    draft.messages.push(draft_message(MessageBody::Assistant { text: String::new(), tool_calls: calls }, 2));
    let result = MessageBody::Tool { call_id: "c".into(), tool_name: "execute_bash".into(), text: secret() };
    draft.messages.push(draft_message(result, 3));
    let id = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap().exchange_id;
    let messages = store.exchange_messages(id).await.unwrap();
    assert_clean(&format!("{:?}", messages[2]));
    assert_clean(&format!("{:?}", messages[3]));
    assert!(!format!("{:?}", messages[2]).contains("hunter2"), "{:?}", messages[2]);
    let places: Vec<String> =
        store.redactions(10).await.unwrap().into_iter().map(|redaction| redaction.place).collect();
    assert!(places.contains(&"tool call".into()) && places.contains(&"tool result".into()), "{places:?}");
}

pub async fn secrets_in_imports_are_removed_and_recorded(store: Arc<dyn Store>) {
    let conversation = NewConversation { title: secret(), scope: "other".into() };
    let source = Some(ExchangeSource { program: "x".into(), session: "1".into() });
    let drafts = [exchange("hello", "hi", 1), ExchangeDraft { source, ..exchange(&secret(), "well", 2) }];
    let new = NewImport {
        origin: "x/1",
        conversation: &conversation,
        previous: None,
        last_seen: None,
        exchanges: &drafts,
        messages: 4,
        checksum: "a",
        through: None,
    };
    let id = store.put_import(&new).await.unwrap().unwrap();
    assert_clean(&store.conversation(id).await.unwrap().unwrap().title);
    let exchanges = store.exchanges(id, 10).await.unwrap();
    assert_clean(&exchanges[1].user_message);
    let redactions = store.redactions(10).await.unwrap();
    assert_eq!(redactions.len(), 1);
    assert_eq!(redactions[0].exchange_id, Some(exchanges[1].id), "for the exchange that contained it");
    assert_eq!(store.are_stored(&drafts[1..]).await.unwrap(), [true], "although it contained a secret");
}

pub async fn secrets_in_lines_and_core_memory_are_removed_and_recorded(store: Arc<dyn Store>) {
    store.append_command(&format!("use {}", secret()), timestamp(1)).await.unwrap();
    assert_clean(&store.recent_commands(1).await.unwrap()[0]);
    let previous = CoreEntry { block: CoreBlock::User, text: String::new(), version: 0 };
    let change = CoreChange { previous, text: secret(), author: ChangedBy::Model, created: timestamp(2) };
    store.change_core_memory("/p", &change).await.unwrap();
    assert_clean(&format!("{:?}", store.core_memory("/p").await.unwrap()));
    let redactions = store.redactions(10).await.unwrap();
    let places: Vec<&str> = redactions.iter().map(|redaction| redaction.place.as_str()).collect();
    assert_eq!(places, ["core memory", "line"], "newest first");
    // A rejected change records nothing.
    store.change_core_memory("/p", &change).await.unwrap();
    assert_eq!(store.redactions(10).await.unwrap().len(), 2);
}

pub async fn secrets_in_documents_are_removed_and_recorded(store: Arc<dyn Store>) {
    let mut new = NewDocument {
        slug: "notes".into(),
        title: secret(),
        date: "2025-03-04".into(),
        tags: vec![secret()],
        kind: DocumentKind::File,
        source: "/notes".into(),
        hash: "h".into(),
        text: format!("The token is {}.", secret()),
        written_from: Vec::new(),
    };
    let whole = |text: &str| {
        assert_clean(text);
        vec![ChunkSpan { new: 0..text.len(), overlap: 0, tokens: 3 }]
    };
    let id = store.put_document(&new, &whole, timestamp(1)).await.unwrap().id;
    let document = store.document("notes").await.unwrap().unwrap();
    assert_clean(&document.title);
    assert_clean(&document.tags[0]);
    assert_clean(&store.document_chunks(id).await.unwrap()[0].text);
    assert_eq!(store.redactions(10).await.unwrap().len(), 3);
    // A new version replaces the records of the previous one.
    (new.title, new.tags) = ("Notes".into(), Vec::new());
    store.put_document(&new, &whole, timestamp(2)).await.unwrap();
    assert_eq!(store.redactions(10).await.unwrap().len(), 1);
}

pub async fn secrets_in_derived_text_are_removed_without_a_record(store: Arc<dyn Store>) {
    let committed =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let (id, through) = (committed.conversation_id, committed.exchange_id);
    let summary = Summary { text: secret(), author: "m".into() };
    store.put_exchange_summaries(&[(through, summary.clone())]).await.unwrap();
    assert_clean(&store.exchange_summary(through).await.unwrap().unwrap().text);
    let whole = ConversationSummary { summary, through };
    assert!(store.put_conversation_summary(id, &whole, 1, Some(&secret())).await.unwrap());
    let conversation = store.conversation(id).await.unwrap().unwrap();
    assert_clean(&conversation.title);
    assert_clean(conversation.summary.as_deref().unwrap_or_default());
    let digest = Digest {
        through,
        summary: secret(),
        pinned: vec![format!("Say \"{}\".", secret())],
        prepared: Some(PreparedSummary { through, summary: secret() }),
        requested_through: None,
        is_compact: false,
    };
    assert!(store.put_digest(id, None, &digest, timestamp(2)).await.unwrap());
    let stored = store.digest(id).await.unwrap().unwrap();
    assert_clean(&stored.summary);
    assert_clean(&stored.pinned[0]);
    assert_clean(&stored.prepared.unwrap().summary);
    let prepared = PreparedSummary { through, summary: secret() };
    assert!(store.prepare_digest(id, Some(through), &prepared, timestamp(3)).await.unwrap());
    assert_clean(&store.digest(id).await.unwrap().unwrap().prepared.unwrap().summary);
    assert!(store.redactions(10).await.unwrap().is_empty());
}

pub async fn secrets_in_jobs_and_tasks_are_removed(store: Arc<dyn Store>) {
    let target = ConversationTarget::New(NewConversation { title: "t".into(), scope: "/p".into() });
    let exchange_id = store.commit_exchange(&target, &exchange("q", "a", 1)).await.unwrap().exchange_id;
    let claim = Claim {
        worker: WorkerKind::ExchangeSummarizer,
        excluded_conversation: None,
        subject_kind: None,
        with_model: false,
        embeddable: embeddable(1),
        owner: "me",
        now: timestamp(10),
        until: timestamp(1000),
    };
    assert_eq!(store.claim(&claim, 1).await.unwrap().len(), 1);
    let subject = Subject::new(SubjectKind::Exchange, exchange_id.get());
    let failure = JobFailure { error: secret(), due: None };
    assert_eq!(store.fail(claim.worker, &[subject], &failure, timestamp(11)).await.unwrap(), 1);
    assert_clean(store.failed_jobs(1).await.unwrap()[0].last_error.as_deref().unwrap_or_default());

    let task = NewTask {
        name: "a".into(),
        prompt: secret(),
        schedule: Schedule::Once(timestamp(20)),
        model: None,
        scope: "/p".into(),
        approval: "ask".into(),
        allow: Vec::new(),
        timeout_seconds: 60,
        history: 0,
        budget: None,
    };
    assert!(store.add_task(&task, Some(timestamp(20)), timestamp(1)).await.unwrap());
    let task = store.task("a").await.unwrap().unwrap();
    assert_clean(&task.definition.prompt);
    let new = NewRun {
        task: task.id,
        scheduled_for: Some(timestamp(20)),
        next_due: None,
        owner: "me",
        now: timestamp(21),
        until: timestamp(100),
    };
    let run = store.start_run(&new).await.unwrap().unwrap();
    let outcome = RunOutcome { state: RunState::Failed, report: secret(), error: Some(secret()), cost: None };
    assert!(store.end_run(run, &outcome, timestamp(22)).await.unwrap());
    let outcome = store.runs(None, 1).await.unwrap().remove(0).outcome;
    assert_clean(&outcome.report);
    assert_clean(outcome.error.as_deref().unwrap_or_default());
}
