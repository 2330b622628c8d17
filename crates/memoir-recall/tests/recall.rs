//! Recall over a store, with the compiled-in embedder.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::Arc;

use memoir_core::{Clock, ConversationTarget, Passage, TimeZone, Timestamp, count_tokens};
use memoir_embed::LocalEmbedder;
use memoir_recall::{Asking, Recall};
use memoir_store::{Exchanges as _, Filter, contract, sqlite::SqliteStore};
use tempfile::TempDir;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Sunday, 15 November 2026, noon.
const NOW: i64 = 1_794_744_000_000;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(NOW)
    }
}

struct Memory {
    recall: Recall,
    store: SqliteStore,
    _directory: TempDir,
}

impl Memory {
    async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
        let recall =
            Recall::new(Arc::new(store.clone()), Arc::new(LocalEmbedder), Arc::new(Fixed), TimeZone::UTC);
        Self { recall, store, _directory: directory }
    }

    /// One conversation in which each of `prompts` was said, `days` ago.
    async fn said(&self, days: i64, prompts: &[String]) {
        let mut target = contract::new_conversation("talk", "/p");
        for prompt in prompts {
            let mut draft = contract::exchange(prompt, "Noted.", NOW - days * DAY);
            draft
                .messages
                .iter_mut()
                .for_each(|message| message.tokens = count_tokens(message.body.text()) as u64);
            let committed = self.store.commit_exchange(&target, &draft).await.unwrap();
            target = ConversationTarget::Existing(committed.conversation_id);
        }
    }

    async fn asked(&self, prompt: &str) -> Vec<Passage> {
        while self.recall.embed_next().await.unwrap() > 0 {}
        self.recall.ask(prompt, Asking::Prompt, Filter::default()).await.passages
    }
}

#[tokio::test]
async fn a_busy_conversation_does_not_starve_the_others() {
    let memory = Memory::new().await;
    let flood: Vec<String> = (0..1000)
        .map(|number| format!("The build number {number} of the delivery service failed again this morning."))
        .collect();
    memory.said(3, &flood).await;
    memory.said(2, &["The delivery service fails because its connection pool is too small.".into()]).await;
    let found = memory.asked("Why does the delivery service fail?").await;
    assert!(found.iter().any(|passage| passage.text.contains("pool is too small")), "{found:?}");
    let flooding = found.iter().filter(|passage| passage.text.contains("build number")).count();
    assert!(flooding <= 3, "{flooding} of one conversation");
}

#[tokio::test]
async fn a_date_in_the_question_prefers_what_was_said_then() {
    let memory = Memory::new().await;
    memory.said(40, &["The rent for the flat in Porto is 900 euros a month, they told me.".into()]).await;
    // Last Tuesday was five days ago.
    memory.said(5, &["The rent for the flat in Porto will be 950 euros a month, they told me.".into()]).await;
    memory.said(20, &["The rent for the flat in Porto may be 920 euros a month, they told me.".into()]).await;
    let found = memory.asked("What did I say last Tuesday about the rent in Porto?").await;
    assert!(found[0].text.contains("950"), "{found:?}");
    let found = memory.asked("What did I say in October about the rent in Porto?").await;
    assert!(found[0].text.contains("920") || found[0].text.contains("900"), "{found:?}");
}

#[tokio::test]
async fn no_question_is_too_strange() {
    let memory = Memory::new().await;
    memory.said(1, &["Something that was said at some length, so that it has a vector.".into()]).await;
    let long = "word ".repeat(10_000);
    for question in ["", "\"", "NOT AND OR (", "???", "你好，世界", "🦀🦀🦀", "\0", &long] {
        memory.asked(question).await;
    }
}
