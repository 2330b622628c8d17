//! The contract of a store: what every implementation must do, as tests over the traits.
//!
//! Call [`run`] with a way to make an empty store. A failing check panics and names itself.

#![expect(clippy::unwrap_used, reason = "this module is a test suite; a failure is meant to panic")]

use std::{future::Future, sync::Arc};

use memoir_core::{
    CallCost, ChangedBy, ConversationId, ConversationTarget, CoreBlock, CoreChange, CoreEntry, Digest,
    DraftMessage, ExchangeDraft, ExchangeId, ExchangeStatus, MessageBody, NewConversation, Prepared,
    Provenance, Purpose, Role, Summary, Timestamp, ToolCall, Usage, Usd, Visibility, WorkerKind,
};
use serde_json::json;

use crate::{
    Change, Claim, ConversationList, ConversationSummary, CostFilter, Filter, IndexMode, JobFailure,
    NewEmbedding, Store, StoreError, VectorSearch, WordSearch, WordsFound,
};

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
    words_find_what_was_said_and_nothing_else(empty_store().await).await;
    rarer_words_and_more_of_them_count_more(empty_store().await).await;
    no_word_is_a_syntax_error(empty_store().await).await;
    filters_are_part_of_every_search(empty_store().await).await;
    vectors_find_the_nearest_and_only_once(empty_store().await).await;
    core_memory_is_changed_by_who_has_seen_it_and_undone(empty_store().await).await;
    a_digest_is_replaced_by_who_has_seen_it(empty_store().await).await;
    work_is_taken_on_once_and_comes_back_when_it_failed(empty_store().await).await;
    a_conversation_that_grew_is_summarised_again(empty_store().await).await;
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
        recalled: Vec::new(),
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
    let redacted = |body| DraftMessage { visibility: Visibility::Redacted, ..said(body, 1005) };
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
            tokens: message.tokens,
            created: message.created,
        })
        .collect();
    assert_eq!(comparable, draft.messages);
    assert!(messages.iter().all(|message| message.exchange_id == committed.exchange_id));
}

async fn a_conversation_comes_with_its_first_exchange(store: impl Store) {
    let all = ConversationList { scope: None, limit: 10 };
    assert!(store.conversations(&all).await.unwrap().is_empty());

    let first =
        store.commit_exchange(&new_conversation("one", "/a"), &exchange("q", "a", 1000)).await.unwrap();
    let second =
        store.commit_exchange(&new_conversation("two", "/b"), &exchange("q", "a", 2000)).await.unwrap();
    assert!(second.conversation_id > first.conversation_id);
    let again = ConversationTarget::Existing(first.conversation_id);
    store.commit_exchange(&again, &exchange("q2", "a2", 3000)).await.unwrap();

    let listed: Vec<_> = store.conversations(&all).await.unwrap().into_iter().map(|c| c.title).collect();
    assert_eq!(listed, ["one", "two"], "the one that was used last comes first");
    let in_b = ConversationList { scope: Some("/b".into()), limit: 10 };
    assert_eq!(store.conversations(&in_b).await.unwrap()[0].id, second.conversation_id);
    let one = store.conversation(first.conversation_id).await.unwrap().unwrap();
    assert_eq!((one.exchange_count, one.created, one.updated), (2, at(1000), at(3010)));
    let gone = ConversationId::new(77);
    assert_eq!(store.conversations_by_id(&[gone, first.conversation_id]).await.unwrap(), [one]);
}

async fn a_vanished_conversation_takes_no_exchange(store: impl Store) {
    let gone = ConversationTarget::Existing(ConversationId::new(77));
    let refused = store.commit_exchange(&gone, &exchange("q", "a", 1)).await;
    assert!(matches!(refused, Err(StoreError::NotFound { id: 77, .. })), "{refused:?}");
    assert!(store.tables().await.unwrap().iter().all(|table| table.rows == 0));
}

async fn the_window_is_the_newest_exchanges_oldest_first(store: impl Store) {
    let mut target = new_conversation("t", "/p");
    for number in 0..5 {
        let draft = exchange(&format!("q{number}"), &format!("a{number}"), number * 100);
        let committed = store.commit_exchange(&target, &draft).await.unwrap();
        target = ConversationTarget::Existing(committed.conversation_id);
    }
    let ConversationTarget::Existing(id) = target else { unreachable!("five exchanges were committed") };
    let questions: Vec<_> =
        store.exchanges(id, 2).await.unwrap().into_iter().map(|e| e.user_message).collect();
    assert_eq!(questions, ["q3", "q4"]);
    let texts: Vec<_> =
        store.messages(id, 2).await.unwrap().into_iter().map(|m| m.body.text().to_owned()).collect();
    assert_eq!(texts, ["q3", "a3", "q4", "a4"]);

    // What is sent again: from an exchange on, without what was redacted.
    let mut draft = exchange("q5", "a5", 500);
    draft.messages[0].visibility = Visibility::Redacted;
    store.commit_exchange(&ConversationTarget::Existing(id), &draft).await.unwrap();
    let third = store.exchanges(id, 4).await.unwrap()[1].id;
    let shown = async |after| -> Vec<String> {
        let messages = store.shown_messages(id, after).await.unwrap();
        messages.into_iter().map(|message| message.body.text().to_owned()).collect()
    };
    assert_eq!(shown(Some(third)).await, ["q4", "a4", "a5"]);
    assert_eq!(shown(None).await.len(), 11);
    assert_eq!(store.shown_messages(ConversationId::new(99), None).await.unwrap(), []);
}

async fn core_memory_is_changed_by_who_has_seen_it_and_undone(store: impl Store) {
    let blocks = async |project| -> Vec<(String, u64)> {
        let entries = store.core_memory(project).await.unwrap();
        assert_eq!(entries.iter().map(|entry| entry.block).collect::<Vec<_>>(), CoreBlock::ALL);
        entries.into_iter().map(|entry| (entry.text, entry.version)).collect()
    };
    let nothing = || (String::new(), 0);
    assert_eq!(blocks("/p").await, [nothing(), nothing(), nothing()]);
    let change = async |project, block: CoreBlock, version, before: &str, text: &str| {
        let seen = CoreEntry { block, text: before.into(), version };
        let change = CoreChange { seen, text: text.into(), by: ChangedBy::Model, at: at(1) };
        store.change_core_memory(project, &change).await.unwrap()
    };
    assert_eq!(change("/p", CoreBlock::User, 0, "", "Drinks tea.").await, Change::Made);
    assert_eq!(change("/p", CoreBlock::Project, 0, "", "Written in Rust.").await, Change::Made);
    // Two who have seen the same: the second is told, and nothing of the first's is lost.
    assert_eq!(change("/q", CoreBlock::User, 1, "Drinks tea.", "Drinks green tea.").await, Change::Made);
    assert_eq!(change("/p", CoreBlock::User, 1, "Drinks tea.", "Drinks coffee.").await, Change::Overtaken);
    assert_eq!(change("/p", CoreBlock::User, 0, "", "Drinks milk.").await, Change::Overtaken);
    assert_eq!(change("/p", CoreBlock::Instructions, 3, "what is not there", "x").await, Change::Overtaken);
    let user = ("Drinks green tea.".to_owned(), 2);
    assert_eq!(blocks("/p").await, [user.clone(), ("Written in Rust.".into(), 1), nothing()]);
    assert_eq!(blocks("/q").await, [user, nothing(), nothing()], "a project's block is its own");
    // Undone in the order in which they were made, as far as this project sees them.
    let undo = async |project| -> Option<(CoreBlock, String)> {
        let undone = store.undo_core_memory(project, at(2)).await.unwrap();
        undone.map(|entry| (entry.block, entry.text))
    };
    assert_eq!(undo("/q").await, Some((CoreBlock::User, "Drinks tea.".into())));
    assert_eq!(undo("/p").await, Some((CoreBlock::Project, String::new())));
    assert_eq!(undo("/p").await, Some((CoreBlock::User, String::new())));
    assert_eq!(undo("/p").await, None);
    assert_eq!(blocks("/p").await, [(String::new(), 4), (String::new(), 2), nothing()]);
}

async fn work_is_taken_on_once_and_comes_back_when_it_failed(store: impl Store) {
    let worker = WorkerKind::ExchangeSummarizer;
    let mut ids = Vec::new();
    for number in 0..3 {
        let draft = exchange("q", "a", number * 100);
        ids.push(store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap());
    }
    let claim = |owner: &'static str, now: i64, redo_extracts: bool| Claim {
        worker,
        except: Some(ids[2].conversation_id),
        redo_extracts,
        owner,
        now: at(now),
        until: at(now + 1000),
    };
    let take = async |owner, now| -> Option<(i64, u32)> {
        let claimed = store.claim(&claim(owner, now, false)).await.unwrap();
        claimed.map(|claimed| (claimed.subject_id, claimed.attempts))
    };
    let (first, second) = (ids[0].exchange_id.get(), ids[1].exchange_id.get());
    assert_eq!(
        store.pending(&claim("a", 0, false)).await.unwrap(),
        2,
        "the present conversation is left alone"
    );
    assert_eq!(take("a", 0).await, Some((second, 0)), "the newest first");
    assert_eq!(take("b", 0).await, Some((first, 0)), "and none twice");
    assert_eq!(take("a", 0).await, None);
    // A lease that ran out is taken over: who held it may have died.
    assert_eq!(take("b", 1000).await, Some((second, 0)));
    let fail = async |subject, due: Option<i64>| {
        let failure = JobFailure { error: "no".into(), due: due.map(at) };
        store.fail(worker, subject, &failure, at(1001)).await.unwrap();
    };
    fail(second, Some(5000)).await;
    assert_eq!(store.next_due(worker).await.unwrap(), Some(at(1000)), "the other lease");
    store.release(worker, first).await.unwrap();
    assert_eq!(take("a", 2000).await, Some((first, 0)), "given back without blame");
    let summary = Summary { text: "They spoke.".into(), by: Summary::EXTRACT.into() };
    assert!(store.put_exchange_summary(ids[0].exchange_id, &summary).await.unwrap());
    assert_eq!(store.exchange_summary(ids[0].exchange_id).await.unwrap(), Some(summary.clone()));
    assert_eq!(take("a", 4999).await, None, "not before it is due");
    assert_eq!(take("a", 5000).await, Some((second, 1)));
    fail(second, None).await;
    assert_eq!(take("a", 1_000_000).await, None, "failed for good");
    assert_eq!(store.pending(&claim("a", 0, false)).await.unwrap(), 0);
    let failed = store.failed_jobs(10).await.unwrap();
    assert_eq!((failed.len(), failed[0].attempts, failed[0].last_error.as_deref()), (1, 2, Some("no")));
    assert_eq!(store.retry_jobs(Some(failed[0].id + 1), at(6000)).await.unwrap(), 0);
    assert_eq!(store.retry_jobs(None, at(6000)).await.unwrap(), 1);
    assert_eq!(take("a", 6000).await, Some((second, 0)));
    fail(second, None).await;
    assert_eq!(store.purge_jobs(None).await.unwrap(), 1);
    // With a model, what was quoted is summarised anew.
    assert_eq!(store.pending(&claim("a", 0, true)).await.unwrap(), 2);
    assert!(!store.put_exchange_summary(ExchangeId::new(99), &summary).await.unwrap());
}

async fn a_conversation_that_grew_is_summarised_again(store: impl Store) {
    let committed =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let id = committed.conversation_id;
    let claim = Claim {
        worker: WorkerKind::ConversationSummarizer,
        except: None,
        redo_extracts: false,
        owner: "a",
        now: at(10),
        until: at(20),
    };
    assert_eq!(store.claim(&claim).await.unwrap().map(|claimed| claimed.subject_id), Some(id.get()));
    let summary = ConversationSummary {
        summary: Summary { text: "About q.".into(), by: "m".into() },
        through: committed.exchange_id,
    };
    assert!(store.put_conversation_summary(id, &summary, Some("A title")).await.unwrap());
    assert_eq!(store.conversation_summary(id).await.unwrap(), Some(summary.clone()));
    let filed = store.conversation(id).await.unwrap().unwrap();
    assert_eq!((filed.title.as_str(), filed.summary.as_deref()), ("A title", Some("About q.")));
    assert_eq!(store.claim(&claim).await.unwrap(), None);
    let target = ConversationTarget::Existing(id);
    store.commit_exchange(&target, &exchange("more", "b", 2)).await.unwrap();
    assert_eq!(store.claim(&claim).await.unwrap().map(|claimed| claimed.subject_id), Some(id.get()));
    let gone = ConversationSummary { through: ExchangeId::new(99), ..summary };
    assert!(!store.put_conversation_summary(id, &gone, None).await.unwrap(), "of nothing that is there");
}

async fn a_digest_is_replaced_by_who_has_seen_it(store: impl Store) {
    let draft = exchange("q", "a", 1);
    let committed = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    let (id, first) = (committed.conversation_id, committed.exchange_id);
    assert_eq!(store.digest(id).await.unwrap(), None);
    let digest = |through: ExchangeId, summary: &str| Digest {
        through,
        summary: summary.into(),
        pinned: vec!["Always \"metric\" units.".into()],
        prepared: Some(Prepared { through: ExchangeId::new(through.get() + 5), summary: "later".into() }),
    };
    let put = async |seen, digest: &Digest| store.put_digest(id, seen, digest, at(9)).await.unwrap();
    assert!(put(None, &digest(first, "one")).await);
    assert_eq!(store.digest(id).await.unwrap(), Some(digest(first, "one")));
    assert!(!put(None, &digest(first, "two")).await, "there is one already");
    let next = ExchangeId::new(first.get() + 3);
    assert!(put(Some(first), &digest(next, "two")).await);
    assert!(!put(Some(first), &digest(next, "three")).await, "it goes further by now");
    assert_eq!(store.digest(id).await.unwrap(), Some(digest(next, "two")));
    let gone = ConversationId::new(77);
    assert!(!store.put_digest(gone, None, &digest(first, "x"), at(9)).await.unwrap());

    // A summary made ahead changes nothing else, and is of what is there.
    let prepare = async |seen, through| {
        let prepared = Prepared { through, summary: "ahead".into() };
        store.prepare_digest(id, seen, &prepared, at(9)).await.unwrap()
    };
    assert!(!prepare(Some(first), first).await, "it goes further by now");
    assert!(!prepare(Some(next), ExchangeId::new(55)).await, "there is no such exchange");
    assert!(prepare(Some(next), first).await);
    let prepared = Some(Prepared { through: first, summary: "ahead".into() });
    assert_eq!(store.digest(id).await.unwrap(), Some(Digest { prepared, ..digest(next, "two") }));
    let other = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    let prepared = Prepared { through: other.exchange_id, summary: "ahead".into() };
    assert!(store.prepare_digest(other.conversation_id, None, &prepared, at(9)).await.unwrap());
    assert_eq!(store.digest(other.conversation_id).await.unwrap().unwrap().through.get(), 0);
}

async fn words_find_what_was_said_and_nothing_else(store: impl Store) {
    let mut draft = exchange("My cat is called Miso", "A fine name", 1000);
    draft.messages.push(DraftMessage {
        visibility: Visibility::Redacted,
        ..said(
            MessageBody::Tool { call_id: "c".into(), tool_name: "t".into(), text: "Miso soup".into() },
            1001,
        )
    });
    draft
        .messages
        .push(DraftMessage { provenance: Provenance::Derived, ..said(assistant("you said Miso"), 1002) });
    let cats = store.commit_exchange(&new_conversation("cats", "/p"), &draft).await.unwrap();
    store
        .commit_exchange(&new_conversation("dogs", "/p"), &exchange("The dogs barked", "Oh", 2000))
        .await
        .unwrap();

    let found = words(&store, &["miso", "zebra"], &Filter::default()).await;
    assert_eq!(found.words[0].len(), 1, "neither tool output nor what was derived: {found:?}");
    assert!(found.words[1].is_empty());
    assert_eq!(found.conversations.len(), 1);
    assert_eq!(found.words[0][0].conversation_id, cats.conversation_id);
    let texts = store.texts(&[found.words[0][0].message_id]).await.unwrap();
    assert_eq!(texts[0].1, "My cat is called Miso");
    let exchange = &store.exchange_texts(&[cats.exchange_id]).await.unwrap()[0];
    assert_eq!(
        (exchange.user.as_str(), exchange.assistant.as_str()),
        ("My cat is called Miso", ""),
        "an answer that quotes memory is not quoted"
    );
    assert_eq!(words(&store, &["barking"], &Filter::default()).await.words[0].len(), 1, "words are stemmed");
    let elsewhere = Filter { except: Some(cats.conversation_id), ..Filter::default() };
    assert_eq!(
        words(&store, &["miso"], &elsewhere).await,
        WordsFound { words: vec![Vec::new()], ..WordsFound::default() }
    );

    let outlines = store.outlines(&[cats.conversation_id]).await.unwrap();
    let kinds: Vec<_> = outlines.iter().map(|outline| (outline.role, outline.words, outline.asks)).collect();
    assert_eq!(kinds, [(Role::User, 5, false), (Role::Assistant, 3, false)]);
}

async fn words(store: &impl Store, words: &[&str], filter: &Filter) -> WordsFound {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let search = WordSearch { words: &words, filter, conversations: 10, also: &[] };
    store.search_words(&search).await.unwrap()
}

async fn rarer_words_and_more_of_them_count_more(store: impl Store) {
    let mut ids = Vec::new();
    for text in
        ["tea and cake", "tea and milk", "tea tea tea", "milk and a very long list of other things to buy"]
    {
        let draft = exchange(text, "ok", 1000);
        ids.push(store.commit_exchange(&new_conversation(text, "/p"), &draft).await.unwrap().conversation_id);
    }
    let found = words(&store, &["tea", "cake"], &Filter::default()).await;
    assert_eq!(found.conversations[0].0, ids[0], "it has both");
    let of = |word: usize, conversation: usize| {
        let found = found.words[word].iter().find(|found| found.conversation_id == ids[conversation]);
        found.map_or(0.0, |found| found.score)
    };
    assert!(of(1, 0) > of(0, 0), "cake is rarer than tea");
    assert!(of(0, 2) > of(0, 1), "tea three times is more than once");
    let milk = words(&store, &["milk"], &Filter::default()).await;
    assert_eq!(
        milk.conversations.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        [ids[1], ids[3]],
        "the shorter first"
    );
    // One conversation is looked at closely, and one that is wanted in any case.
    let (wanted, filter) = (["tea".to_owned()], Filter::default());
    let search = WordSearch { words: &wanted, filter: &filter, conversations: 1, also: &[ids[3]] };
    let found = store.search_words(&search).await.unwrap();
    assert_eq!(found.conversations.len(), 2);
    assert_eq!(found.conversations[1], (ids[3], 0.0));
    assert_eq!(found.words[0].len(), 1);
}

async fn no_word_is_a_syntax_error(store: impl Store) {
    store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let long = "word ".repeat(10_000);
    for text in ["", "\"", "a AND", "NEAR(", "x:y", "*", "'; DROP TABLE messages", "你好", "🦀", "\0", &long]
    {
        words(&store, &[text], &Filter::default()).await;
    }
}

async fn filters_are_part_of_every_search(store: impl Store) {
    let (mut committed, mut exchanges) = (Vec::new(), Vec::new());
    for (number, scope) in ["/a", "/a", "/b", "/b"].into_iter().enumerate() {
        let moment = 1000 * i64::try_from(number).unwrap();
        let draft = exchange("the same words", "ok", moment);
        let filed = store.commit_exchange(&new_conversation("t", scope), &draft).await.unwrap();
        exchanges.push(filed.exchange_id);
        committed.push(filed.conversation_id);
    }
    let waiting = store.unembedded("m", 1, 100).await.unwrap();
    let questions = waiting.iter().filter(|message| message.text.starts_with("the"));
    let embeddings: Vec<NewEmbedding> = questions
        .map(|message| NewEmbedding {
            message_id: message.message_id,
            conversation_id: message.conversation_id,
            vector: vec![0.6, 0.8],
        })
        .collect();
    store.put_embeddings("m", &embeddings).await.unwrap();
    let any = Filter::default();
    let cases = [
        (any.clone(), vec![0, 1, 2, 3]),
        (Filter { except: Some(committed[1]), ..any.clone() }, vec![0, 2, 3]),
        (Filter { within: Some(committed[2]), ..any.clone() }, vec![2]),
        (Filter { scope: Some("/a".into()), ..any.clone() }, vec![0, 1]),
        (Filter { scope: Some("/nowhere".into()), ..any.clone() }, vec![]),
        (Filter { since: Some(at(2000)), ..any.clone() }, vec![2, 3]),
        (Filter { until: Some(at(2000)), ..any.clone() }, vec![0, 1]),
        (Filter { before: Some(exchanges[1]), ..any.clone() }, vec![0]),
        (Filter { before: Some(exchanges[3]), scope: Some("/b".into()), ..any.clone() }, vec![2]),
        (Filter { scope: Some("/b".into()), since: Some(at(3000)), ..any }, vec![3]),
    ];
    for (filter, expected) in cases {
        for mode in [IndexMode::Auto, IndexMode::Exact, IndexMode::Ann] {
            let search = VectorSearch {
                model: "m",
                vector: &[0.6, 0.8],
                filter: &filter,
                mode,
                limit: expected.len().max(1),
            };
            let mut near: Vec<_> =
                store.nearest(&search).await.unwrap().iter().map(|found| found.conversation_id).collect();
            near.sort_unstable();
            assert_eq!(
                near,
                expected.iter().map(|index| committed[*index]).collect::<Vec<_>>(),
                "{filter:?}"
            );
        }
        let found = words(&store, &["words"], &filter).await;
        let mut having: Vec<_> = found.words[0].iter().map(|found| found.conversation_id).collect();
        having.sort_unstable();
        assert_eq!(having, expected.iter().map(|index| committed[*index]).collect::<Vec<_>>(), "{filter:?}");
    }
}

async fn vectors_find_the_nearest_and_only_once(store: impl Store) {
    let vectors = [[1.0, 0.0, 0.0, 0.0], [0.8, 0.6, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    let (mut ids, mut exchanges) = (Vec::new(), Vec::new());
    for number in 0..3 {
        let committed = store
            .commit_exchange(&new_conversation("t", "/p"), &exchange(&format!("q{number}"), "a", number))
            .await
            .unwrap();
        ids.push(committed.conversation_id);
        exchanges.push(committed.exchange_id);
    }
    assert_eq!(store.unembedded("m", 4, 100).await.unwrap().len(), 6);
    assert!(store.unembedded("m", 5, 100).await.unwrap().is_empty(), "all are shorter than that");
    let waiting = store.unembedded("m", 4, 100).await.unwrap();
    assert_eq!(store.unembedded_of(exchanges[1], "m", 4).await.unwrap().len(), 2);
    let questions = waiting.iter().filter(|message| message.text.starts_with('q'));
    let embeddings: Vec<NewEmbedding> = questions
        .map(|message| NewEmbedding {
            message_id: message.message_id,
            conversation_id: message.conversation_id,
            vector: vectors[ids.iter().position(|id| *id == message.conversation_id).unwrap()].to_vec(),
        })
        .collect();
    // The second time changes nothing.
    for _ in 0..2 {
        store.put_embeddings("m", &embeddings).await.unwrap();
    }
    let (everywhere, query) = (Filter::default(), [1.0, 0.0, 0.0, 0.0]);
    let elsewhere = Filter { except: Some(ids[0]), ..Filter::default() };
    let search =
        VectorSearch { model: "m", vector: &query, filter: &everywhere, mode: IndexMode::Auto, limit: 2 };
    let found: Vec<_> =
        store.nearest(&search).await.unwrap().iter().map(|found| found.conversation_id).collect();
    assert_eq!(found, [ids[0], ids[1]]);
    let without = store.nearest(&VectorSearch { filter: &elsewhere, ..search }).await.unwrap();
    assert_eq!(
        without[0].conversation_id, ids[1],
        "a filter is part of the search, not applied to its result"
    );
    assert_eq!(without.len(), 2);
    assert!((without[0].score - 0.8).abs() < 0.002, "{without:?}");
    assert!(store.nearest(&VectorSearch { model: "another", ..search }).await.unwrap().is_empty());
    let estimates = store.estimated_similarities("m", &query, &ids[..1]).await.unwrap();
    assert_eq!(estimates.len(), 1, "the answer has no vector");
    let messages: Vec<_> = without.iter().map(|found| found.message_id).collect();
    let vectors = store.vectors("m", &messages).await.unwrap();
    assert_eq!(vectors.len(), 2);
    assert!(vectors.iter().all(|(id, vector)| messages.contains(id) && vector.len() == 4));
    assert_eq!(store.unembedded("m", 4, 100).await.unwrap().len(), 3);
    assert_eq!(store.unembedded_count("m", 4).await.unwrap(), 3);
    // Deleted, they are made anew.
    assert_eq!(store.delete_embeddings("another").await.unwrap(), 0);
    assert_eq!(store.delete_embeddings("m").await.unwrap(), 3);
    assert!(store.nearest(&search).await.unwrap().is_empty());
    assert_eq!(store.unembedded_count("m", 4).await.unwrap(), 6);
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
    let all = ConversationList { scope: None, limit: 100 };
    assert_eq!(store.conversations(&all).await.unwrap().len(), 20);
    assert_eq!(store.recent_commands(100).await.unwrap().len(), 20);
}
