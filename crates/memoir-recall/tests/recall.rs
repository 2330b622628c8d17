//! Recall over a store, with the compiled-in embedder.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use memoir_core::{Passage, Recollection, TimeZone, Usage, Usd, count_tokens};
use memoir_embed::LocalEmbedder;
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError};
use memoir_recall::{QueryKind, Recall, ScopeRule, StageName};
use memoir_store::{Exchanges as _, Filter, contract};
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::fakes::ManualClock;
use tempfile::TempDir;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Sunday, 15 November 2026, noon.
const NOW: i64 = 1_794_744_000_000;

struct Memory {
    recall: Recall,
    store: SqliteStore,
    _directory: TempDir,
}

impl Memory {
    async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
        let recall = Recall::new(
            Arc::new(store.clone()),
            Arc::new(LocalEmbedder),
            Arc::new(ManualClock::new(NOW)),
            TimeZone::UTC,
        );
        Self { recall, store, _directory: directory }
    }

    /// One conversation in which each of `prompts` was said, `days` ago.
    async fn commit(&self, days: i64, prompts: &[String]) {
        let mut target = contract::new_conversation("talk", "/p");
        for prompt in prompts {
            let mut draft = contract::exchange(prompt, "Noted.", NOW - days * DAY);
            draft
                .messages
                .iter_mut()
                .for_each(|message| message.tokens = count_tokens(message.body.text()) as u64);
            let committed = self.store.commit_exchange(&target, &draft).await.unwrap();
            target = committed.to_target();
        }
    }

    async fn asked(&self, prompt: &str) -> Vec<Passage> {
        while self.recall.catch_up().await.unwrap() > 0 {}
        self.recall.ask(prompt, QueryKind::Prompt, Filter::default()).await.passages
    }
}

#[tokio::test]
async fn a_busy_conversation_does_not_starve_the_others() {
    let memory = Memory::new().await;
    let flood: Vec<String> = (0..1000)
        .map(|number| format!("The build number {number} of the delivery service failed again this morning."))
        .collect();
    memory.commit(3, &flood).await;
    memory.commit(2, &["The delivery service fails because its connection pool is too small.".into()]).await;
    let found = memory.asked("Why does the delivery service fail?").await;
    assert!(found.iter().any(|passage| passage.text.contains("pool is too small")), "{found:?}");
    let flooding = found.iter().filter(|passage| passage.text.contains("build number")).count();
    assert!(flooding <= 3, "{flooding} of one conversation");
}

#[tokio::test]
async fn a_date_in_the_question_prefers_what_was_said_then() {
    let memory = Memory::new().await;
    memory.commit(40, &["The rent for the flat in Porto is 900 euros a month, they told me.".into()]).await;
    // Last Tuesday was five days ago.
    memory
        .commit(5, &["The rent for the flat in Porto will be 950 euros a month, they told me.".into()])
        .await;
    memory
        .commit(20, &["The rent for the flat in Porto may be 920 euros a month, they told me.".into()])
        .await;
    let found = memory.asked("What did I say last Tuesday about the rent in Porto?").await;
    assert!(found[0].text.contains("950"), "{found:?}");
    let found = memory.asked("What did I say in October about the rent in Porto?").await;
    assert!(found[0].text.contains("920") || found[0].text.contains("900"), "{found:?}");
}

#[tokio::test]
async fn no_question_is_too_strange() {
    let memory = Memory::new().await;
    memory.commit(1, &["Something that was said at some length, so that it has a vector.".into()]).await;
    let long = "word ".repeat(10_000);
    let many: String = (0..10_000).map(|number| format!("word{number} ")).collect();
    let pasted = format!("{many} and then {many}");
    for _ in 0..10 {
        memory.commit(1, std::slice::from_ref(&pasted)).await;
    }
    for question in
        [&many, &pasted, "What lived here 70000000 days ago?", "300000 months ago", "99999999999 weeks ago"]
    {
        memory.asked(question).await;
    }
    for question in ["", "\"", "NOT AND OR (", "???", "你好，世界", "🦀🦀🦀", "\0", &long] {
        memory.asked(question).await;
    }
}

/// An embedder that is never there.
struct Absent;

#[async_trait]
impl Embedder for Absent {
    fn name(&self) -> &str {
        "test/absent"
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, _texts: &[String], _task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        Err(ModelError::Garbled("no one is there".into()))
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        None
    }
}

#[tokio::test]
async fn without_an_embedder_words_are_enough_and_it_is_said() {
    let mut memory = Memory::new().await;
    memory.commit(1, &["The spare key lies under the blue flowerpot beside the door.".into()]).await;
    memory.recall.embedder = Arc::new(Absent);
    let found = memory.recall.ask("Where is the spare key?", QueryKind::Prompt, Filter::default()).await;
    assert!(found.passages[0].text.contains("flowerpot"), "{found:?}");
    assert_eq!(found.notices.len(), 1, "{found:?}");
    assert!(found.notices[0].starts_with("Recall went on without embed_query: "), "{found:?}");
    assert_eq!(found.conversations.len(), 1);
}

#[tokio::test]
async fn stages_can_be_left_out_and_the_rest_goes_on() {
    let mut memory = Memory::new().await;
    memory.commit(1, &["The spare key lies under the blue flowerpot beside the door.".into()]).await;
    memory.commit(1, &["My sister collects old maps of the northern islands.".into()]).await;
    let all = memory.recall.settings.stages.clone();
    for without in &all {
        memory.recall.settings.stages = all.iter().filter(|name| *name != without).cloned().collect();
        let found = memory.asked("Where did I say the spare key was, under which flowerpot?").await;
        let expected = !matches!(without, StageName::Gather | StageName::Fuse | StageName::Budget);
        let first = found.first().is_some_and(|passage| passage.text.contains("flowerpot"));
        assert_eq!(first, expected, "without {without}: {found:?}");
    }
    // Corrections may as well be looked for before the project counts.
    memory.recall.settings.stages = all;
    let place =
        |name: StageName| memory.recall.settings.stages.iter().position(|stage| *stage == name).unwrap();
    let (scope, supersede) = (place(StageName::PreferScope), place(StageName::Supersede));
    memory.recall.settings.stages.swap(scope, supersede);
    assert_eq!(memory.recall.settings.stages[scope], StageName::Supersede);
    assert!(!memory.asked("Where is the spare key?").await.is_empty());
}

#[tokio::test]
async fn limits_hold_and_conversations_come_with_what_is_known_of_them() {
    let mut memory = Memory::new().await;
    for days in 1..6 {
        let said: Vec<String> = (0..4)
            .map(|number| {
                format!("On day {days} the oven timer number {number} failed while baking bread in it.")
            })
            .collect();
        memory.commit(days, &said).await;
    }
    let counted = |found: &Recollection| {
        let mut of_conversation: HashMap<_, usize> = HashMap::new();
        found
            .passages
            .iter()
            .for_each(|passage| *of_conversation.entry(passage.conversation_id).or_default() += 1);
        (found.conversations.len(), found.passages.len(), of_conversation.into_values().max().unwrap_or(0))
    };
    memory.asked("").await;
    let ask = async |memory: &Memory| {
        memory
            .recall
            .ask("When did the oven timer fail while baking bread?", QueryKind::Prompt, Filter::default())
            .await
    };
    let found = ask(&memory).await;
    assert_eq!(counted(&found), (3, 10, 3), "{found:?}");
    let first = &found.conversations[0];
    assert_eq!((first.title.as_str(), first.scope.as_str(), first.exchange_count), ("talk", "/p", 4));
    assert!(first.similarity > 0.4);
    assert!(found.passages.iter().map(|passage| passage.tokens).sum::<u64>() <= 2000);
    memory.recall.settings.exchanges_per_conversation = 1;
    memory.recall.settings.conversation_limit = 1;
    assert_eq!(counted(&ask(&memory).await), (1, 5, 1));
    memory.recall.settings.token_budget = 150;
    let found = ask(&memory).await;
    assert!((1..=2).contains(&found.passages.len()), "{found:?}");
    memory.recall.settings.min_similarity = Some(1.0);
    let unknown = memory.recall.ask("Who plays the violin?", QueryKind::Prompt, Filter::default()).await;
    assert!(unknown.passages.is_empty() && unknown.conversations.is_empty());
}

#[tokio::test]
async fn the_present_project_comes_first_or_alone() {
    let mut memory = Memory::new().await;
    for scope in ["/a", "/b"] {
        let text = "The deploy script of the web shop needs the flag for the region to work at all.";
        let mut draft = contract::exchange(text, "Noted.", NOW - DAY);
        draft.messages[0].tokens = 20;
        memory.store.commit_exchange(&contract::new_conversation("t", scope), &draft).await.unwrap();
    }
    for (scope, conversation) in [("/a", 1), ("/b", 2)] {
        memory.recall.scope = Some(scope.into());
        for (rule, count) in [(ScopeRule::Prefer, 2), (ScopeRule::Only, 1)] {
            memory.recall.settings.scope = rule;
            let found = memory.asked("Which flag does the deploy script need?").await;
            assert_eq!(found.len(), count);
            assert_eq!(found[0].conversation_id.get(), conversation, "{found:?}");
        }
    }
}
