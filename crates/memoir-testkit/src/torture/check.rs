//! What must hold in a memory, whatever happened to who wrote it.

use std::{collections::HashSet, path::Path};

use sqlx::{Connection as _, SqliteConnection};

/// Questions whose answer must be nothing, and what it means if it is not.
const NEVER: [(&str, &str); 8] = [
    ("SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "the file is damaged"),
    ("SELECT \"table\" FROM pragma_foreign_key_check", "rows belong to nothing"),
    (
        "SELECT id FROM exchanges WHERE NOT EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id)",
        "exchanges without messages",
    ),
    (
        "SELECT id FROM exchanges WHERE status = 'completed' AND model <> 'imported' AND assistant_message <> ''
           AND NOT EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = 'assistant')",
        "answers without their message",
    ),
    (
        "SELECT id FROM conversations WHERE forked_from IS NULL
           AND NOT EXISTS (SELECT 1 FROM exchanges WHERE conversation_id = conversations.id)",
        "empty conversations",
    ),
    (
        "SELECT calls.exchange_id FROM messages AS calls, json_each(calls.tool_calls) AS call
         WHERE NOT EXISTS (SELECT 1 FROM messages AS result WHERE result.exchange_id = calls.exchange_id
                           AND result.tool_call_id = call.value ->> 'id')",
        "tool calls without their results",
    ),
    (
        "SELECT id FROM messages WHERE redacted = 0 AND derived = 0 AND role <> 'tool'
         EXCEPT SELECT id FROM messages_text_docsize",
        "messages that words do not find",
    ),
    (
        "SELECT id FROM messages_text_docsize
         EXCEPT SELECT id FROM messages WHERE redacted = 0 AND derived = 0 AND role <> 'tool'",
        "words of messages that are gone",
    ),
];

/// What does not hold in the memory at `path`; and which exchanges are there.
pub fn faults_of(path: &Path) -> (Vec<String>, HashSet<i64>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let mut faults = Vec::new();
        let made: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        if made == 0 {
            // Killed before there was anything.
            return (faults, HashSet::new());
        }
        for (question, meaning) in NEVER {
            let rows = sqlx::query(question).fetch_all(&mut connection).await;
            match rows {
                Ok(rows) if rows.is_empty() => {}
                Ok(rows) => faults.push(format!("{} {meaning}", rows.len())),
                Err(error) => faults.push(format!("{meaning}: {error}")),
            }
        }
        let there = sqlx::query_scalar("SELECT id FROM exchanges").fetch_all(&mut connection).await;
        connection.close().await.unwrap();
        (faults, there.unwrap_or_default().into_iter().collect())
    })
}
