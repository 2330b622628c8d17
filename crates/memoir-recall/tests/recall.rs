//! Recall over a SQLite store with the built-in embedding model.

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

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

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

    /// Stores a conversation with these prompts, dated `days` ago.
    async fn commit(&self, days: i64, prompts: &[String]) {
        let mut target = contract::new_conversation("talk", "/p");
        for prompt in prompts {
            let mut draft = contract::exchange(prompt, "Noted.", NOW - days * DAY_MILLIS);
            draft
                .messages
                .iter_mut()
                .for_each(|message| message.tokens = count_tokens(message.body.text()) as u64);
            let committed = self.store.commit_exchange(&target, &draft).await.unwrap();
            target = committed.to_target();
        }
    }

    /// Embeds all messages and returns the passages recalled for a prompt.
    async fn ask(&self, prompt: &str) -> Vec<Passage> {
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
    let passages = memory.ask("Why does the delivery service fail?").await;
    assert!(passages.iter().any(|passage| passage.text.contains("pool is too small")), "{passages:?}");
    let flood_count = passages.iter().filter(|passage| passage.text.contains("build number")).count();
    assert!(flood_count <= 3, "{flood_count} passages of one conversation");
}

#[tokio::test]
async fn messages_from_the_date_in_the_question_rank_first() {
    let memory = Memory::new().await;
    memory.commit(40, &["The rent for the flat in Porto is 900 euros a month, they told me.".into()]).await;
    // Last Tuesday was five days ago.
    memory
        .commit(5, &["The rent for the flat in Porto will be 950 euros a month, they told me.".into()])
        .await;
    memory
        .commit(20, &["The rent for the flat in Porto may be 920 euros a month, they told me.".into()])
        .await;
    let passages = memory.ask("What did I say last Tuesday about the rent in Porto?").await;
    assert!(passages[0].text.contains("950"), "{passages:?}");
    let passages = memory.ask("What did I say in October about the rent in Porto?").await;
    assert!(passages[0].text.contains("920") || passages[0].text.contains("900"), "{passages:?}");
}

#[tokio::test]
async fn unusual_questions_do_not_panic() {
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
        memory.ask(question).await;
    }
    for question in ["", "\"", "NOT AND OR (", "???", "你好，世界", "🦀🦀🦀", "\0", &long] {
        memory.ask(question).await;
    }
}

/// An embedding model that always fails.
struct FailingEmbedder;

#[async_trait]
impl Embedder for FailingEmbedder {
    fn name(&self) -> &str {
        "test/failing"
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, _texts: &[String], _task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        Err(ModelError::InvalidResponse("the model is down".into()))
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        None
    }
}

#[tokio::test]
async fn without_an_embedding_model_keywords_suffice_and_a_notice_is_added() {
    let mut memory = Memory::new().await;
    memory.commit(1, &["The spare key lies under the blue flowerpot beside the door.".into()]).await;
    memory.recall.embedder = Arc::new(FailingEmbedder);
    let result = memory.recall.ask("Where is the spare key?", QueryKind::Prompt, Filter::default()).await;
    assert!(result.passages[0].text.contains("flowerpot"), "{result:?}");
    assert_eq!(result.notices.len(), 1, "{result:?}");
    assert!(result.notices[0].starts_with("Recall skipped the stage embed_query: "), "{result:?}");
    assert_eq!(result.conversations.len(), 1);
}

#[tokio::test]
async fn recall_works_without_any_one_optional_stage() {
    let mut memory = Memory::new().await;
    memory.commit(1, &["The spare key lies under the blue flowerpot beside the door.".into()]).await;
    memory.commit(1, &["My sister collects old maps of the northern islands.".into()]).await;
    let all = memory.recall.settings.stages.clone();
    for without in &all {
        memory.recall.settings.stages = all.iter().filter(|name| *name != without).cloned().collect();
        let passages = memory.ask("Where did I say the spare key was, under which flowerpot?").await;
        let is_optional = !matches!(without, StageName::Gather | StageName::Fuse | StageName::Budget);
        let is_first = passages.first().is_some_and(|passage| passage.text.contains("flowerpot"));
        assert_eq!(is_first, is_optional, "without {without}: {passages:?}");
    }
    // The order of these two stages can be swapped.
    memory.recall.settings.stages = all;
    let position =
        |name: StageName| memory.recall.settings.stages.iter().position(|stage| *stage == name).unwrap();
    let (scope, supersede) = (position(StageName::PreferScope), position(StageName::Supersede));
    memory.recall.settings.stages.swap(scope, supersede);
    assert_eq!(memory.recall.settings.stages[scope], StageName::Supersede);
    assert!(!memory.ask("Where is the spare key?").await.is_empty());
}

#[tokio::test]
async fn limits_apply_and_conversations_are_described() {
    let mut memory = Memory::new().await;
    for days in 1..6 {
        let prompts: Vec<String> = (0..4)
            .map(|number| {
                format!("On day {days} the oven timer number {number} failed while baking bread in it.")
            })
            .collect();
        memory.commit(days, &prompts).await;
    }
    let counts = |result: &Recollection| {
        let mut per_conversation: HashMap<_, usize> = HashMap::new();
        for passage in &result.passages {
            *per_conversation.entry(passage.conversation_id).or_default() += 1;
        }
        let max_per_conversation = per_conversation.into_values().max().unwrap_or(0);
        (result.conversations.len(), result.passages.len(), max_per_conversation)
    };
    // Embeds all messages.
    memory.ask("").await;
    let ask = async |memory: &Memory| {
        memory
            .recall
            .ask("When did the oven timer fail while baking bread?", QueryKind::Prompt, Filter::default())
            .await
    };
    let result = ask(&memory).await;
    assert_eq!(counts(&result), (3, 10, 3), "{result:?}");
    let first = &result.conversations[0];
    assert_eq!((first.title.as_str(), first.scope.as_str(), first.exchange_count), ("talk", "/p", 4));
    assert!(first.similarity > 0.4);
    assert!(result.passages.iter().map(|passage| passage.tokens).sum::<u64>() <= 2000);
    memory.recall.settings.exchanges_per_conversation = 1;
    memory.recall.settings.conversation_limit = 1;
    assert_eq!(counts(&ask(&memory).await), (1, 5, 1));
    memory.recall.settings.token_budget = 150;
    let result = ask(&memory).await;
    assert!((1..=2).contains(&result.passages.len()), "{result:?}");
    memory.recall.settings.min_similarity = Some(1.0);
    let result = memory.recall.ask("Who plays the violin?", QueryKind::Prompt, Filter::default()).await;
    assert!(result.passages.is_empty() && result.conversations.is_empty());
}

#[tokio::test]
async fn the_current_project_is_preferred_or_searched_alone() {
    let mut memory = Memory::new().await;
    for scope in ["/a", "/b"] {
        let text = "The deploy script of the web shop needs the flag for the region to work at all.";
        let mut draft = contract::exchange(text, "Noted.", NOW - DAY_MILLIS);
        draft.messages[0].tokens = 20;
        memory.store.commit_exchange(&contract::new_conversation("t", scope), &draft).await.unwrap();
    }
    for (scope, conversation) in [("/a", 1), ("/b", 2)] {
        memory.recall.scope = Some(scope.into());
        for (rule, count) in [(ScopeRule::Prefer, 2), (ScopeRule::Only, 1)] {
            memory.recall.settings.scope = rule;
            let passages = memory.ask("Which flag does the deploy script need?").await;
            assert_eq!(passages.len(), count);
            assert_eq!(passages[0].conversation_id.get(), conversation, "{passages:?}");
        }
    }
}
