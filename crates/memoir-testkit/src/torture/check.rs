//! What must hold in a memory, whatever happened to who wrote it.

use std::{collections::HashMap, path::Path};

use sqlx::{Connection as _, SqliteConnection};

/// Questions whose answer must be nothing, and what it means if it is not.
const NEVER: [(&str, &str); 15] = [
    ("SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "the file is damaged"),
    ("SELECT \"table\" FROM pragma_foreign_key_check", "rows belong to nothing"),
    (
        "SELECT id FROM exchanges WHERE NOT EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id)",
        "exchanges without messages",
    ),
    // What was brought in may begin with an answer, and what was asked may be forgotten alone: nothing is said of a question then.
    (
        "SELECT id FROM exchanges WHERE status = 'completed' AND user_message <> ''
           AND NOT EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = 'user')",
        "questions without their message",
    ),
    (
        "SELECT id FROM exchanges WHERE status = 'completed' AND assistant_message <> ''
           AND NOT EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = 'assistant'
                           AND content = assistant_message)",
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
    ("SELECT id FROM chunks EXCEPT SELECT id FROM chunks_text_docsize", "chunks that words do not find"),
    ("SELECT id FROM chunks_text_docsize EXCEPT SELECT id FROM chunks", "words of chunks that are gone"),
    (
        "SELECT id FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = subject_id)",
        "vectors of messages that are gone",
    ),
    (
        "SELECT id FROM summary_embeddings WHERE NOT CASE subject_kind
             WHEN 'exchange' THEN EXISTS (SELECT 1 FROM exchanges
                                          WHERE exchanges.id = subject_id AND summary IS NOT NULL)
             ELSE EXISTS (SELECT 1 FROM conversations
                          WHERE conversations.id = subject_id AND summary IS NOT NULL) END",
        "vectors of summaries that are gone",
    ),
    (
        "SELECT id FROM chunk_embeddings WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.id = chunk_id)",
        "vectors of chunks that are gone",
    ),
    // What takes part in each is what `UNPACKED` reads in `memoir-store/src/sqlite/index`.
    (
        "SELECT id FROM _index_segments AS segment WHERE segment.count <> CASE kind
             WHEN 'messages' THEN (SELECT count(*) FROM messages WHERE id BETWEEN first_id AND last_id
                                   AND redacted = 0 AND derived = 0 AND role <> 'tool')
             WHEN 'vectors' THEN (SELECT count(*) FROM embeddings AS row WHERE row.id BETWEEN first_id AND last_id
                                  AND row.model || '#' || row.dimensions = segment.model)
             WHEN 'summaries' THEN (SELECT count(*) FROM summary_embeddings AS row
                                    WHERE row.id BETWEEN first_id AND last_id
                                      AND row.model || '#' || row.dimensions = segment.model)
             ELSE (SELECT count(*) FROM chunk_embeddings AS row WHERE row.id BETWEEN first_id AND last_id
                   AND row.model || '#' || row.dimensions = segment.model) END",
        "segments that do not hold what they cover",
    ),
];

/// Every exchange, and what was asked in it.
const ASKED: &str =
    "SELECT id, coalesce((SELECT content FROM messages WHERE exchange_id = exchanges.id AND role = 'user'
                                          ORDER BY messages.id LIMIT 1), '') FROM exchanges";

/// Statements that fail where the index of words is not what its texts are; they change the copy, so they come last. The index is
/// compared with all texts that there are: those that take no part in it go before.
const COMPARED: [(&str, &str); 3] = [
    (
        "DELETE FROM messages WHERE redacted = 1 OR derived = 1 OR role = 'tool'",
        "messages that cannot be deleted",
    ),
    (
        "INSERT INTO messages_text (messages_text, rank) VALUES ('integrity-check', 1)",
        "the words of messages are not theirs",
    ),
    (
        "INSERT INTO chunks_text (chunks_text, rank) VALUES ('integrity-check', 1)",
        "the words of chunks are not theirs",
    ),
];

/// What does not hold in the memory at `path`; and which exchanges are there, with what was asked in them.
///
/// It looks at a copy: whoever opens a memory mends what a crash left, and that is for the program to do.
pub fn faults_of(path: &Path) -> (Vec<String>, HashMap<i64, String>) {
    let folder = tempfile::TempDir::new().unwrap();
    let copy = folder.path().join("memoir.db");
    std::fs::copy(path, &copy).unwrap();
    // The log, and the journal from before there is one. What is shared between processes is made anew.
    for ending in ["wal", "journal"] {
        let beside = path.with_extension(format!("db-{ending}"));
        if beside.exists() {
            std::fs::copy(beside, copy.with_extension(format!("db-{ending}"))).unwrap();
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // The copy need not outlive anything.
        let options = sqlx::sqlite::SqliteConnectOptions::new()
            .filename(&copy)
            .synchronous(sqlx::sqlite::SqliteSynchronous::Off);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let mut faults = Vec::new();
        let made: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        if made == 0 {
            // Killed before there was anything.
            return (faults, HashMap::new());
        }
        for (question, meaning) in NEVER {
            let rows = sqlx::query(question).fetch_all(&mut connection).await;
            match rows {
                Ok(rows) if rows.is_empty() => {}
                Ok(rows) => faults.push(format!("{} {meaning}", rows.len())),
                Err(error) => faults.push(format!("{meaning}: {error}")),
            }
        }
        let there: Result<Vec<(i64, String)>, _> = sqlx::query_as(ASKED).fetch_all(&mut connection).await;
        for (statement, meaning) in COMPARED {
            if let Err(error) = sqlx::query(statement).execute(&mut connection).await {
                faults.push(format!("{meaning}: {error}"));
            }
        }
        connection.close().await.unwrap();
        (faults, there.unwrap_or_default().into_iter().collect())
    })
}
