//! Imports into a store, repeated and of longer versions.

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
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    (directory, store)
}

async fn import(store: &SqliteStore, history: &ImportedHistory) -> Vec<ImportOutcome> {
    let mut outcomes = Vec::new();
    for conversation in &history.conversations {
        outcomes.push(import_conversation(store, conversation, SystemClock.now(), false).await.unwrap());
    }
    outcomes
}

/// Returns the stored texts of an imported conversation.
async fn stored_texts(store: &SqliteStore, conversation: &ImportedConversation) -> Vec<String> {
    let imports = store.imports(&conversation.origin).await.unwrap();
    assert_eq!(imports.len(), 1, "{}", conversation.origin);
    let messages = store.messages(imports[0].conversation_id, u32::MAX).await.unwrap();
    messages.into_iter().map(|message| message.body.text().to_owned()).collect()
}

#[tokio::test]
async fn importing_again_adds_nothing() {
    let (_directory, store) = open().await;
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
            vec![ImportOutcome::Unchanged; new.len()],
            "{}",
            format.name()
        );
        for conversation in &history.conversations {
            let texts: Vec<&str> = conversation.messages.iter().map(|message| message.body.text()).collect();
            assert_eq!(stored_texts(&store, conversation).await, texts);
        }
    }
}

/// Returns an earlier version of each file, in which the last conversation is shorter.
fn earlier_versions() -> [String; 6] {
    let lines = |index: usize, count: usize| {
        let (_, text, _) = FILES[index];
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
async fn a_longer_version_adds_only_new_messages() {
    let (_directory, store) = open().await;
    for ((format, text, read), earlier) in FILES.into_iter().zip(earlier_versions()) {
        let (earlier, full) = (read(&earlier).unwrap(), read(text).unwrap());
        let (short, long) = (earlier.conversations.last().unwrap(), full.conversations.last().unwrap());
        let (short_len, long_len) = (short.messages.len(), long.messages.len());
        assert!(0 < short_len && short_len < long_len, "{}: {short_len} of {long_len}", format.name());
        assert_eq!(
            import_conversation(&store, short, SystemClock.now(), false).await.unwrap(),
            ImportOutcome::New(short_len),
            "{}",
            format.name()
        );
        assert_eq!(
            import_conversation(&store, long, SystemClock.now(), true).await.unwrap(),
            ImportOutcome::Extended(long_len - short_len)
        );
        assert_eq!(
            import_conversation(&store, long, SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Extended(long_len - short_len),
            "{}",
            format.name()
        );
        assert_eq!(
            import_conversation(&store, long, SystemClock.now(), false).await.unwrap(),
            ImportOutcome::Unchanged
        );
        let texts: Vec<&str> = long.messages.iter().map(|message| message.body.text()).collect();
        assert_eq!(stored_texts(&store, long).await, texts, "{}", format.name());
    }
}

#[tokio::test]
async fn another_branch_is_reported_as_different() {
    let (_directory, store) = open().await;
    let (_, text, _) = FILES[0];
    import(&store, &read_chatgpt(text).unwrap()).await;
    let other = text.replace("\"current_node\": \"a2\"", "\"current_node\": \"q2-left\"");
    assert_eq!(
        import(&store, &read_chatgpt(&other).unwrap()).await,
        [ImportOutcome::Unchanged, ImportOutcome::Different]
    );
}

#[tokio::test]
async fn prompts_and_answers_are_stored_as_exchanges() {
    let (_directory, store) = open().await;
    let (_, text, read) = FILES[2];
    import(&store, &read(text).unwrap()).await;
    let id = store.imports("claude-code/").await.unwrap()[0].conversation_id;
    let conversation = store.conversation(id).await.unwrap().unwrap();
    assert_eq!(
        (conversation.title.as_str(), conversation.scope.as_str(), conversation.model.as_str()),
        ("A mill without a fixture", "/home/anna/mill", "claude-sonnet-4-5")
    );
    let exchanges = store.exchanges(id, u32::MAX).await.unwrap();
    let texts: Vec<(&str, &str)> = exchanges
        .iter()
        .map(|exchange| (exchange.user_message.as_str(), exchange.assistant_message.as_str()))
        .collect();
    assert_eq!(
        texts,
        [
            ("Why does the mill's test fail?", "The fixture is missing."),
            ("Also run clippy.", "Clippy is content."),
            ("Write the fixture instead.", "The fixture is written."),
            ("Thanks.", ""),
        ]
    );
    let messages = store.transcript(&Span { conversation: Some(id), ..Span::default() }, 100).await.unwrap();
    assert!(
        !messages.iter().any(|message| message.text == "I will look at the test."),
        "it is not the final answer"
    );
    assert!(messages.iter().any(|message| message.text == "The fixture is missing."));
}

#[tokio::test]
async fn tool_calls_in_memoirs_format_are_imported_with_their_results() {
    let (_directory, store) = open().await;
    let (_, text, _) = FILES[5];
    let history = read_memoir(text).unwrap();
    import(&store, &history).await;
    let id = store.imports("memoir/").await.unwrap()[0].conversation_id;
    let exchanges = store.exchanges(id, u32::MAX).await.unwrap();
    assert_eq!(exchanges[0].tool_call_count, 1);
    let messages = store.messages(id, u32::MAX).await.unwrap();
    for (draft, stored) in history.conversations[1].messages.iter().zip(&messages) {
        assert_eq!(
            (&draft.author, &draft.body, draft.visibility, draft.provenance, draft.created),
            (&stored.author, &stored.body, stored.visibility, stored.provenance, stored.created)
        );
        assert!(stored.tokens > 0);
    }
    assert_eq!(messages[1].visibility, Visibility::Hidden);
}

#[tokio::test]
async fn a_conversation_that_begins_with_an_answer_is_stored() {
    let (_directory, store) = open().await;
    let export = r#"[{"uuid": "1", "created_at": "2024-05-01T08:00:00Z",
        "chat_messages": [{"uuid": "m", "sender": "assistant", "text": "Welcome."}]}]"#;
    assert_eq!(import(&store, &read_claude(export).unwrap()).await, [ImportOutcome::New(1)]);
    let messages = store.transcript(&Span::default(), 10).await.unwrap();
    assert_eq!(messages[0].text, "Welcome.");
}
