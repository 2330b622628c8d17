//! Reads the databases of other programs, and the files next to them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use memoir_import::{
    HistoryFormat, ImportError, ImportedConversation, ImportedHistory, read_copilot, read_database,
    read_opencode_files,
};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

/// Creates a database from a dump.
async fn create(file: &Path, dump: &str) -> SqliteConnection {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(true).foreign_keys(false);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(dump.to_owned())).execute(&mut connection).await.unwrap();
    connection
}

fn metadata(conversation: &ImportedConversation) -> [&str; 4] {
    [&conversation.origin, &conversation.title, &conversation.scope, &conversation.model]
}

fn texts(conversation: &ImportedConversation) -> Vec<&str> {
    conversation.messages.iter().map(|message| message.body.text()).collect()
}

fn find<'a>(history: &'a ImportedHistory, origin: &str) -> &'a ImportedConversation {
    history.conversations.iter().find(|conversation| conversation.origin == origin).unwrap()
}

/// Reads a dump as a database, and checks that reading changes nothing and does not need the file to be writable.
async fn read(format: HistoryFormat, dump: &str) -> ImportedHistory {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a directory with 100%?#/history.db");
    create(&file, dump).await.close().await.unwrap();
    let before = fs::read(&file).unwrap();
    let history = read_database(format, &file).await.unwrap();
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no other files are created");
    assert_eq!(read_database(format, &file).await.unwrap(), history);
    history
}

#[tokio::test]
async fn llm() {
    let dump = include_str!("../data/llm.sql");
    let history = read(HistoryFormat::Llm, dump).await;
    let titles: Vec<[&str; 4]> = history.conversations.iter().map(metadata).collect();
    assert_eq!(titles.len(), 4, "{titles:?}");
    let continued = find(&history, "llm/01m7q7ezfnatjaadrbp0vnf0cj");
    assert_eq!(metadata(continued)[1..], ["Bed A: loam, full sun. When do …", "llm", "stub-garden"]);
    assert_eq!(
        texts(continued),
        [
            "Bed A: loam, full sun.\nWhen do I sow runner beans?",
            "Sow the beans in mid May, when the soil is above 10 C.",
            "Shall I water today?",
            "Let me look at the rain.",
            "12 mm is enough: no watering today.",
            "How many beans for a row?",
            "A row 3 m long takes about 40 beans.",
            "Should I add stakes?",
            "Yes, one at each end.",
        ]
    );
    let fork = find(&history, "llm/01m7q7fwmcqshkbhnd34zs7c76");
    assert_eq!(texts(fork)[2..], ["With rye?"]);
    assert_eq!(
        history.skipped,
        [
            ("pictures, recordings and other files", 4),
            ("system messages", 3),
            ("thoughts", 1),
            ("tool calls and results", 6),
        ]
    );
    // Before a newer version continued it, the conversation had the same messages and times.
    let older = read(HistoryFormat::Llm, &format!("{dump}\nDELETE FROM threads;")).await;
    assert_eq!(older.conversations.len(), 1);
    assert_eq!(older.conversations[0].messages, continued.messages[..7]);
}

#[tokio::test]
async fn the_first_log_of_llm() {
    let dump =
        "CREATE TABLE logs (id INTEGER, model TEXT, prompt TEXT, system TEXT, response TEXT, chat_id INTEGER,
        datetime_utc TEXT);
        INSERT INTO logs VALUES (9, 'gpt-4', 'one', 'be brief', '1', NULL, '2023-07-01T12:00:00.123456');
        INSERT INTO logs VALUES (10, 'gpt-4', 'two', NULL, '2', 9, '2023-07-01 12:01:00');";
    let history = read(HistoryFormat::Llm, dump).await;
    assert_eq!(history.conversations.len(), 1);
    assert_eq!(metadata(&history.conversations[0]), ["llm/logs/9", "one", "llm", "gpt-4"]);
    assert_eq!(texts(&history.conversations[0]), ["one", "1", "two", "2"]);
    assert_eq!(history.conversations[0].messages[0].created.to_string(), "2023-07-01T12:00:00.123Z");
}

#[tokio::test]
async fn open_webui() {
    let history = read(HistoryFormat::OpenWebUi, include_str!("../data/open_webui.sql")).await;
    assert_eq!(
        history.conversations.iter().map(metadata).collect::<Vec<_>>(),
        [
            [
                "open-webui/1f0c7f0a-0000-4000-8000-00000000000a",
                "Runner beans",
                "open-webui",
                "llama3.2:latest"
            ],
            [
                "open-webui/1f0c7f0a-0000-4000-8000-00000000000b",
                "Milk in a batter",
                "open-webui",
                "gpt-oss:20b"
            ],
        ]
    );
    assert_eq!(
        texts(&history.conversations[0]),
        ["When do I sow runner beans?", "In mid May.", "Shall I water today?", "No, 12 mm fell this week."]
    );
}

#[tokio::test]
async fn opencode() {
    let history = read(HistoryFormat::OpenCode, include_str!("../data/opencode.sql")).await;
    let garden = find(&history, "opencode/ses_e11818b73ffemUlFi32SZnRfFN");
    assert_eq!(metadata(garden)[1..], ["Runner beans in the bed", "/home/me/garden", "bean-1"]);
    assert_eq!(
        texts(garden),
        [
            "When do I sow runner beans?",
            "Sow in mid May.",
            "What does the plan say?",
            "Let me read it.",
            "The bed plan says: beans in row A.",
        ]
    );
    assert_eq!(
        texts(find(&history, "opencode/ses_e0d0aaaaaffeBreadBreadBread0")),
        ["Bake the bread in @recipe.md"]
    );
    assert_eq!(
        history.skipped,
        [
            ("empty messages", 1),
            ("instructions and context added by the program", 1),
            ("messages on abandoned branches", 1),
            ("pictures, recordings and other files", 1),
            ("sub-agent messages", 1),
            ("thoughts", 1),
            ("tool calls and results", 3),
        ]
    );
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn opencode_files() {
    let directory = tempfile::tempdir().unwrap();
    let storage = directory.path().join("storage");
    let session = storage.join("session/global/ses_5f.json");
    write(
        session.clone(),
        r#"{"id": "other", "directory": "/home/me/kitchen", "title": "Pancakes", "time": {"created": 1757500000000}}"#,
    );
    let messages = storage.join("message/ses_5f");
    write(messages.join("msg_02.json"), r#"{"role": "assistant", "modelID": "grok-code", "system": ["x"]}"#);
    write(messages.join("msg_01.json"), r#"{"role": "user", "time": {"created": 1757500000000}}"#);
    write(messages.join("msg_03.json"), r#"{"role": "user", "ti"#);
    let parts = storage.join("part");
    write(parts.join("msg_01/prt_1.json"), r#"{"type": "text", "text": "Pancakes for four?"}"#);
    write(parts.join("msg_02/prt_3.json"), r#"{"id": "prt_3"#);
    write(parts.join("msg_02/prt_2.json"), r#"{"type": "text", "text": "250 g flour."}"#);
    write(parts.join("msg_02/.oc-1.tmp"), "");
    let history = read_opencode_files(&session).unwrap();
    assert_eq!(
        metadata(&history.conversations[0]),
        ["opencode/ses_5f", "Pancakes", "/home/me/kitchen", "grok-code"]
    );
    assert_eq!(texts(&history.conversations[0]), ["Pancakes for four?", "250 g flour."]);
    assert_eq!(history.skipped, [("messages that could not be read", 2)]);
}

#[tokio::test]
async fn cursor() {
    let directory = tempfile::tempdir().unwrap();
    let workspace = directory.path().join("workspaceStorage/0123456789abcdef0123456789abcdef");
    let (global, local) = (directory.path().join("globalStorage/state.vscdb"), workspace.join("state.vscdb"));
    create(&global, include_str!("../data/cursor_global.sql")).await.close().await.unwrap();
    create(&local, include_str!("../data/cursor_workspace.sql")).await.close().await.unwrap();
    write(workspace.join("workspace.json"), r#"{"folder": "file:///home/me/my%20kitchen"}"#);
    let history = read_database(HistoryFormat::Cursor, &global).await.unwrap();
    let bread = find(&history, "cursor/c0ffee00-1111-4222-8333-0000000b2ead");
    assert_eq!(metadata(bread)[1..], ["Bread for Sunday", "/home/me/my kitchen", "imported"]);
    assert_eq!(texts(bread), ["A bread recipe?", "500 g flour, 350 g water."]);
    let beans = find(&history, "cursor/c0ffee00-1111-4222-8333-00000000beaf");
    assert_eq!(metadata(beans)[1..], ["Runner beans", "/home/me/garden", "claude-4.5-sonnet"]);
    assert_eq!(
        texts(beans),
        [
            "What does the bed plan say?",
            "Let me read it.",
            "And delete row B",
            "Row B stays: you refused the edit."
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("empty conversations", 1),
            ("messages on abandoned branches", 1),
            ("messages that could not be read", 1),
            ("thoughts", 1),
            ("tool calls and results", 2),
        ]
    );
    let history = read_database(HistoryFormat::Cursor, &local).await.unwrap();
    assert_eq!(
        metadata(&history.conversations[0]),
        ["cursor/chat/7a7a7a7a-0000-4000-8000-000000000001", "Pancakes", "/home/me/my kitchen", "gpt-4"]
    );
    assert_eq!(texts(&history.conversations[0]), ["Pancakes for four?", "250 g flour", "And the milk?"]);
    assert!(!history.conversations[0].has_times);
}

#[tokio::test]
async fn a_database_in_use_is_read_with_its_log_and_not_locked() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("opencode.db");
    let dump = include_str!("../data/opencode.sql");
    let mut owner = create(&file, &format!("PRAGMA journal_mode = WAL;\n{dump}")).await;
    assert!(directory.path().join("opencode.db-wal").exists());
    sqlx::raw_sql("BEGIN IMMEDIATE; DELETE FROM part").execute(&mut owner).await.unwrap();
    let history = read_database(HistoryFormat::OpenCode, &file).await.unwrap();
    assert_eq!(history.conversations.len(), 2, "the deletion is not committed");
    sqlx::raw_sql("COMMIT").execute(&mut owner).await.unwrap();
    assert_eq!(read_database(HistoryFormat::OpenCode, &file).await.unwrap().conversations.len(), 0);
    owner.close().await.unwrap();
}

#[tokio::test]
async fn other_and_damaged_databases_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let (other, damaged) = (directory.path().join("other.db"), directory.path().join("damaged.db"));
    create(&other, "CREATE TABLE t (a); INSERT INTO t VALUES (1);").await.close().await.unwrap();
    fs::write(&damaged, [b"SQLite format 3\0".as_slice(), &[7; 5000]].concat()).unwrap();
    for format in
        [HistoryFormat::Cursor, HistoryFormat::Llm, HistoryFormat::OpenCode, HistoryFormat::OpenWebUi]
    {
        let result = read_database(format, &other).await;
        assert!(matches!(result, Err(ImportError::WrongFormat(_))), "{}", format.name());
        let result = read_database(format, &damaged).await;
        assert!(matches!(result, Err(ImportError::Database(_))), "{}", format.name());
        let result = read_database(format, &directory.path().join("missing.db")).await;
        assert!(matches!(result, Err(ImportError::Database(_))), "{}", format.name());
    }
}

#[test]
fn copilot_with_its_workspace() {
    let log = r#"{"type": "session.start", "id": "0", "data": {"sessionId": "f8ca", "selectedModel": "bean-1"}}
        {"type": "user.message", "id": "1", "timestamp": "2026-09-14T08:30:06Z", "data": {"content": "When?"}}"#;
    let workspace = "id: f8ca\ncwd: /home/me/garden\nname: When do I sow runner beans?\nuser_named: false\n";
    let history = read_copilot(log, Some(workspace)).unwrap();
    assert_eq!(
        metadata(&history.conversations[0]),
        ["copilot/f8ca", "When do I sow runner beans?", "/home/me/garden", "bean-1"]
    );
}
