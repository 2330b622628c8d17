//! Bringing in, twice and grown.

use memoir_core::{Clock as _, SystemClock, Visibility};
use memoir_import::{
    ImportOutcome, ImportedConversation, ImportedHistory, import_conversation, read_chatgpt, read_claude,
    read_memoir,
};
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

async fn import(store: &SqliteStore, history: &ImportedHistory) -> Vec<ImportOutcome> {
    let mut outcomes = Vec::new();
    for conversation in &history.conversations {
        outcomes.push(import_conversation(store, conversation, SystemClock.now(), false).await.unwrap());
    }
    outcomes
}

/// All that is here of a conversation from elsewhere.
async fn texts(store: &SqliteStore, conversation: &ImportedConversation) -> Vec<String> {
    let imports = store.imports(&conversation.origin).await.unwrap();
    assert_eq!(imports.len(), 1, "{}", conversation.origin);
    let messages = store.messages(imports[0].conversation_id, u32::MAX).await.unwrap();
    messages.into_iter().map(|message| message.body.text().to_owned()).collect()
}

#[tokio::test]
async fn the_second_time_adds_nothing() {
    let (_folder, store) = open().await;
    for (format, text, read) in FILES {
        let history = read(text).unwrap();
        let new: Vec<ImportOutcome> = history
            .conversations
            .iter()
            .map(|conversation| ImportOutcome::New(conversation.messages.len()))
            .collect();
        assert_eq!(import(&store, &history).await, new, "{}", format.name());
        assert_eq!(
            import(&store, &history).await,
            vec![ImportOutcome::Known; new.len()],
            "{}",
            format.name()
        );
        for conversation in &history.conversations {
            let said: Vec<&str> = conversation.messages.iter().map(|message| message.body.text()).collect();
            assert_eq!(texts(&store, conversation).await, said);
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
        let (short, long) = (before.conversations.last().unwrap(), now.conversations.last().unwrap());
        let (had, has) = (short.messages.len(), long.messages.len());
        assert!(0 < had && had < has, "{}: {had} of {has}", format.name());
        assert_eq!(
            import_conversation(&store, short, SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(had),
            "{}",
            format.name()
        );
        assert_eq!(
            import_conversation(&store, long, SystemClock.now(), true).await.unwrap(),
            ImportOutcome::Grown(has - had)
        );
        assert_eq!(
            import_conversation(&store, long, SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Grown(has - had),
            "{}",
            format.name()
        );
        assert_eq!(
            import_conversation(&store, long, SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Known
        );
        let said: Vec<&str> = long.messages.iter().map(|message| message.body.text()).collect();
        assert_eq!(texts(&store, long).await, said, "{}", format.name());
    }
}

#[tokio::test]
async fn another_branch_is_something_else() {
    let (_folder, store) = open().await;
    let (_, text, _) = FILES[0];
    import(&store, &read_chatgpt(text).unwrap()).await;
    let other = text.replace("\"current_node\": \"a2\"", "\"current_node\": \"q2-left\"");
    assert_eq!(
        import(&store, &read_chatgpt(&other).unwrap()).await,
        [ImportOutcome::Known, ImportOutcome::Different]
    );
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
    let history = read_memoir(text).unwrap();
    import(&store, &history).await;
    let id = store.imports("memoir/").await.unwrap()[0].conversation_id;
    let exchanges = store.exchanges(id, u32::MAX).await.unwrap();
    assert_eq!(exchanges[0].tool_call_count, 1);
    let back = store.messages(id, u32::MAX).await.unwrap();
    for (said, here) in history.conversations[1].messages.iter().zip(&back) {
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
    assert_eq!(import(&store, &read_claude(export).unwrap()).await, [ImportOutcome::New(1)]);
    let said = store.transcript(&Span::default(), 10).await.unwrap();
    assert_eq!(said[0].text, "Welcome.");
}
