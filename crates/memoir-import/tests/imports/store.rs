//! Bringing in, twice and grown.

use memoir_core::{Clock as _, SystemClock, Visibility};
use memoir_import::{Imported, Talk, Thread, bring_in, chatgpt, claude, memoir};
use memoir_store::{Conversations as _, Exchanges as _, Imports as _, Span};
use memoir_store_sqlite::SqliteStore;
use serde_json::Value;
use tempfile::TempDir;

use crate::FILES;

async fn open() -> (TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("memoir.db")).await.unwrap();
    (folder, store)
}

async fn import(store: &SqliteStore, talk: &Talk) -> Vec<Imported> {
    let mut outcomes = Vec::new();
    for thread in &talk.threads {
        outcomes.push(bring_in(store, thread, SystemClock.now(), false).await.unwrap());
    }
    outcomes
}

/// All that is here of a conversation from elsewhere.
async fn texts(store: &SqliteStore, thread: &Thread) -> Vec<String> {
    let imports = store.imports(&thread.origin).await.unwrap();
    assert_eq!(imports.len(), 1, "{}", thread.origin);
    let messages = store.messages(imports[0].conversation_id, u32::MAX).await.unwrap();
    messages.into_iter().map(|message| message.body.text().to_owned()).collect()
}

#[tokio::test]
async fn the_second_time_adds_nothing() {
    let (_folder, store) = open().await;
    for (format, text, read) in FILES {
        let talk = read(text).unwrap();
        let new: Vec<Imported> =
            talk.threads.iter().map(|thread| Imported::New(thread.messages.len())).collect();
        assert_eq!(import(&store, &talk).await, new, "{}", format.name());
        assert_eq!(import(&store, &talk).await, vec![Imported::Known; new.len()], "{}", format.name());
        for thread in &talk.threads {
            let said: Vec<&str> = thread.messages.iter().map(|message| message.body.text()).collect();
            assert_eq!(texts(&store, thread).await, said);
        }
    }
}

/// An earlier version of each file: its last conversation is shorter.
fn earlier() -> [String; 6] {
    let lines = |place: usize, count: usize| {
        let (_, text, _) = FILES[place];
        text.lines().take(count).collect::<Vec<_>>().join("\n")
    };
    let mut claude: Value = serde_json::from_str(FILES[1].1).unwrap();
    claude[0]["chat_messages"].as_array_mut().unwrap().truncate(2);
    [
        FILES[0].1.replace("\"current_node\": \"a2\"", "\"current_node\": \"a1\""),
        claude.to_string(),
        lines(2, 20),
        lines(3, 16),
        lines(4, 4),
        lines(5, 3),
    ]
}

#[tokio::test]
async fn a_longer_version_adds_what_is_new() {
    let (_folder, store) = open().await;
    for ((format, text, read), before) in FILES.into_iter().zip(earlier()) {
        let (before, now) = (read(&before).unwrap(), read(text).unwrap());
        let (short, long) = (before.threads.last().unwrap(), now.threads.last().unwrap());
        let (had, has) = (short.messages.len(), long.messages.len());
        assert!(0 < had && had < has, "{}: {had} of {has}", format.name());
        assert_eq!(
            bring_in(&store, short, SystemClock.now(), false).await.unwrap(),
            Imported::New(had),
            "{}",
            format.name()
        );
        assert_eq!(
            bring_in(&store, long, SystemClock.now(), true).await.unwrap(),
            Imported::Grown(has - had)
        );
        assert_eq!(
            bring_in(&store, long, SystemClock.now(), false).await.unwrap(),
            Imported::Grown(has - had),
            "{}",
            format.name()
        );
        assert_eq!(bring_in(&store, long, SystemClock.now(), false).await.unwrap(), Imported::Known);
        let said: Vec<&str> = long.messages.iter().map(|message| message.body.text()).collect();
        assert_eq!(texts(&store, long).await, said, "{}", format.name());
    }
}

#[tokio::test]
async fn another_branch_is_something_else() {
    let (_folder, store) = open().await;
    let (_, text, _) = FILES[0];
    import(&store, &chatgpt(text).unwrap()).await;
    let other = text.replace("\"current_node\": \"a2\"", "\"current_node\": \"q2-left\"");
    assert_eq!(import(&store, &chatgpt(&other).unwrap()).await, [Imported::Known, Imported::Different]);
}

#[tokio::test]
async fn prompts_and_answers_are_filed_as_exchanges() {
    let (_folder, store) = open().await;
    let (_, text, read) = FILES[2];
    import(&store, &read(text).unwrap()).await;
    let id = store.imports("claude-code/").await.unwrap()[0].conversation_id;
    let conversation = store.conversation(id).await.unwrap().unwrap();
    assert_eq!(
        (conversation.title.as_str(), conversation.scope.as_str(), conversation.model.as_str()),
        ("A mill without a fixture", "/home/anna/mill", "claude-sonnet-4-5")
    );
    let exchanges = store.exchanges(id, u32::MAX).await.unwrap();
    let asked: Vec<(&str, &str)> = exchanges
        .iter()
        .map(|exchange| (exchange.user_message.as_str(), exchange.assistant_message.as_str()))
        .collect();
    assert_eq!(
        asked,
        [
            ("Why does the mill's test fail?", "The fixture is missing."),
            ("Also run clippy.", "Clippy is content."),
            ("Write the fixture instead.", "The fixture is written."),
            ("Thanks.", ""),
        ]
    );
    let said = store.transcript(&Span { conversation: Some(id), ..Span::default() }, 100).await.unwrap();
    assert!(!said.iter().any(|said| said.text == "I will look at the test."), "on the way to an answer");
    assert!(said.iter().any(|said| said.text == "The fixture is missing."));
}

#[tokio::test]
async fn tool_calls_of_memoir_come_back_with_their_results() {
    let (_folder, store) = open().await;
    let (_, text, _) = FILES[5];
    let talk = memoir(text).unwrap();
    import(&store, &talk).await;
    let id = store.imports("memoir/").await.unwrap()[0].conversation_id;
    let exchanges = store.exchanges(id, u32::MAX).await.unwrap();
    assert_eq!(exchanges[0].tool_call_count, 1);
    let back = store.messages(id, u32::MAX).await.unwrap();
    for (said, here) in talk.threads[1].messages.iter().zip(&back) {
        assert_eq!(
            (&said.author, &said.body, said.visibility, said.provenance, said.created),
            (&here.author, &here.body, here.visibility, here.provenance, here.created)
        );
        assert!(here.tokens > 0);
    }
    assert_eq!(back[1].visibility, Visibility::Redacted);
}

#[tokio::test]
async fn a_thread_that_begins_with_an_answer_is_filed() {
    let (_folder, store) = open().await;
    let export = r#"[{"uuid": "1", "created_at": "2024-05-01T08:00:00Z",
        "chat_messages": [{"uuid": "m", "sender": "assistant", "text": "Welcome."}]}]"#;
    assert_eq!(import(&store, &claude(export).unwrap()).await, [Imported::New(1)]);
    let said = store.transcript(&Span::default(), 10).await.unwrap();
    assert_eq!(said[0].text, "Welcome.");
}
