//! The integrity check: invariants of the database that hold even after a crash of the process that wrote it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use sqlx::{Connection as _, SqliteConnection};

use super::block_on;
use crate::torture::{PromptAndAnswer, PromptsAndAnswers};

/// Queries that must return no rows, each with a description of the rows it finds.
const VIOLATION_QUERIES: [(&str, &str); 19] = [
    (
        "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
        "the file is damaged",
    ),
    ("SELECT \"table\" FROM pragma_foreign_key_check", "rows with a broken foreign key"),
    (
        "SELECT id FROM exchanges WHERE NOT EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id)",
        "exchanges without messages",
    ),
    // An imported conversation may begin with an answer, and a prompt may be deleted alone. `user_message` is
    // empty then.
    (
        "SELECT id FROM exchanges WHERE status = 'completed' AND user_message <> ''
           AND NOT EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = 'user')",
        "prompts without a message",
    ),
    (
        "SELECT id FROM exchanges WHERE status = 'completed' AND assistant_message <> ''
           AND NOT EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = 'assistant'
                           AND content = assistant_message)",
        "answers without a message",
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
        "tool calls without results",
    ),
    (
        "SELECT id FROM messages WHERE redacted = 0 AND derived = 0 AND role <> 'tool'
         EXCEPT SELECT id FROM messages_text_docsize",
        "messages missing from the word index",
    ),
    (
        "SELECT id FROM messages_text_docsize
         EXCEPT SELECT id FROM messages WHERE redacted = 0 AND derived = 0 AND role <> 'tool'",
        "word index entries of deleted messages",
    ),
    ("SELECT id FROM chunks EXCEPT SELECT id FROM chunks_text_docsize", "chunks missing from the word index"),
    (
        "SELECT id FROM chunks_text_docsize EXCEPT SELECT id FROM chunks",
        "word index entries of deleted chunks",
    ),
    (
        "SELECT id FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = subject_id)",
        "embeddings of deleted messages",
    ),
    (
        "SELECT id FROM summary_embeddings WHERE NOT CASE subject_kind
             WHEN 'exchange' THEN EXISTS (SELECT 1 FROM exchanges
                                          WHERE exchanges.id = subject_id AND summary IS NOT NULL)
             ELSE EXISTS (SELECT 1 FROM conversations
                          WHERE conversations.id = subject_id AND summary IS NOT NULL) END",
        "embeddings of deleted summaries",
    ),
    (
        "SELECT id FROM chunk_embeddings WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.id = chunk_id)",
        "embeddings of deleted chunks",
    ),
    // Each kind of segment contains the rows that `UNPACKED` selects in `memoir-store-sqlite/src/index`. The
    // data of the segments is not checked, because that would require decoding it here.
    (
        "SELECT id FROM _index_segments AS segment
         WHERE segment.kind = 'messages' AND (segment.count, segment.last_id) IS NOT (
             SELECT count(*), max(row.id) FROM messages AS row
             WHERE row.id BETWEEN segment.first_id AND segment.last_id
               AND row.redacted = 0 AND row.derived = 0 AND row.role <> 'tool')",
        "message segments that do not match their rows",
    ),
    (
        "SELECT id FROM _index_segments AS segment
         WHERE segment.kind = 'vectors' AND (segment.count, segment.last_id) IS NOT (
             SELECT count(*), max(row.id) FROM embeddings AS row
             WHERE row.id BETWEEN segment.first_id AND segment.last_id
               AND row.model || '#' || row.dimensions = segment.model)",
        "vector segments that do not match their rows",
    ),
    (
        "SELECT id FROM _index_segments AS segment
         WHERE segment.kind = 'summaries' AND (segment.count, segment.last_id) IS NOT (
             SELECT count(*), max(row.id) FROM summary_embeddings AS row
             WHERE row.id BETWEEN segment.first_id AND segment.last_id
               AND row.model || '#' || row.dimensions = segment.model)",
        "summary segments that do not match their rows",
    ),
    (
        "SELECT id FROM _index_segments AS segment
         WHERE segment.kind = 'chunks' AND (segment.count, segment.last_id) IS NOT (
             SELECT count(*), max(row.id) FROM chunk_embeddings AS row
             WHERE row.id BETWEEN segment.first_id AND segment.last_id
               AND row.model || '#' || row.dimensions = segment.model)",
        "chunk segments that do not match their rows",
    ),
    (
        "SELECT one.id FROM _index_segments AS one JOIN _index_segments AS other
           ON other.kind = one.kind AND other.model = one.model AND other.id > one.id
          AND other.first_id <= one.last_id AND other.last_id >= one.first_id",
        "segments that overlap",
    ),
];

/// Selects the prompt and the answer of every exchange.
const EXCHANGES: &str = "SELECT id, coalesce((SELECT content FROM messages
                                              WHERE exchange_id = exchanges.id AND role = 'user'
                                              ORDER BY messages.id LIMIT 1), ''), assistant_message FROM exchanges";

/// Selects the source file and the text of every document.
const DOCUMENTS: &str = "SELECT source, coalesce((SELECT group_concat(text, char(10)) FROM chunks
                                                  WHERE document_id = documents.id), '') FROM documents";

/// Statements that fail if the word index does not match its texts. SQLite compares the index with the whole
/// table, so messages that are not indexed are deleted first. Because these statements change the copy, they
/// run last.
const WORD_INDEX_CHECKS: [(&str, &str); 3] = [
    (
        "DELETE FROM messages WHERE redacted = 1 OR derived = 1 OR role = 'tool'",
        "messages that cannot be deleted",
    ),
    (
        "INSERT INTO messages_text (messages_text, rank) VALUES ('integrity-check', 1)",
        "the word index of messages does not match their texts",
    ),
    (
        "INSERT INTO chunks_text (chunks_text, rank) VALUES ('integrity-check', 1)",
        "the word index of chunks does not match their texts",
    ),
];

/// The contents of a database, and the result of its integrity check.
#[derive(Debug, Default)]
pub struct Inspection {
    /// Violated invariants, each with the rows or the error. Empty for a healthy database.
    pub faults: Vec<String>,
    /// Prompts and answers of all exchanges.
    pub exchanges: PromptsAndAnswers,
    /// Texts of all documents by their source file.
    pub documents: BTreeMap<String, String>,
    /// Kinds of data whose index has been packed into segments.
    pub segments: BTreeSet<String>,
}

/// Checks the database at `path` and reads its contents. A missing database counts as empty.
///
/// Works on a copy, because opening a database repairs the traces of a crash, which is left to the program.
pub fn inspect(path: &Path) -> Inspection {
    if !path.exists() {
        return Inspection::default();
    }
    let directory = tempfile::TempDir::new().unwrap();
    let copy = copy_database(path, directory.path());
    block_on(async {
        // The copy does not need to survive a crash.
        let options = sqlx::sqlite::SqliteConnectOptions::new()
            .filename(&copy)
            .synchronous(sqlx::sqlite::SqliteSynchronous::Off);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let inspection = inspect_copy(&mut connection).await;
        connection.close().await.unwrap();
        inspection
    })
}

/// Copies a database with its write-ahead log or rollback journal. SQLite rebuilds the shared memory file.
fn copy_database(path: &Path, directory: &Path) -> PathBuf {
    let sibling = |suffix: &str| path.with_extension(format!("db-{suffix}"));
    let copy = directory.join("memoir.db");
    std::fs::copy(path, &copy).unwrap();
    // A log that exists only under its second name gets its first name back when the program opens the database.
    let log = if sibling("wal").exists() { "wal" } else { "wal-kept" };
    for (from, to) in [(log, "wal"), ("journal", "journal")] {
        if sibling(from).exists() {
            std::fs::copy(sibling(from), copy.with_extension(format!("db-{to}"))).unwrap();
        }
    }
    copy
}

async fn inspect_copy(connection: &mut SqliteConnection) -> Inspection {
    let mut inspection = Inspection::default();
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await.unwrap();
    if tables == 0 {
        // The process was killed before it created the schema.
        return inspection;
    }
    for (query, violation) in VIOLATION_QUERIES {
        let rows = sqlx::query(query).fetch_all(&mut *connection).await;
        match rows {
            Ok(rows) if rows.is_empty() => {}
            Ok(rows) => inspection.faults.push(format!("{violation}: {} rows", rows.len())),
            Err(error) => inspection.faults.push(format!("{violation}: {error}")),
        }
    }
    let exchanges: Result<Vec<(i64, String, String)>, _> =
        sqlx::query_as(EXCHANGES).fetch_all(&mut *connection).await;
    let documents: Result<Vec<(String, String)>, _> =
        sqlx::query_as(DOCUMENTS).fetch_all(&mut *connection).await;
    match exchanges {
        Ok(rows) => {
            let text = |(id, prompt, answer)| (id, PromptAndAnswer { prompt, answer });
            inspection.exchanges = rows.into_iter().map(text).collect();
        }
        Err(error) => inspection.faults.push(format!("exchanges that cannot be read: {error}")),
    }
    match documents {
        Ok(rows) => inspection.documents = rows.into_iter().collect(),
        Err(error) => inspection.faults.push(format!("documents that cannot be read: {error}")),
    }
    let segments: Result<Vec<String>, _> =
        sqlx::query_scalar("SELECT DISTINCT kind FROM _index_segments").fetch_all(&mut *connection).await;
    match segments {
        Ok(kinds) => inspection.segments = kinds.into_iter().collect(),
        Err(error) => inspection.faults.push(format!("segments that cannot be read: {error}")),
    }
    for (statement, violation) in WORD_INDEX_CHECKS {
        if let Err(error) = sqlx::query(statement).execute(&mut *connection).await {
            inspection.faults.push(format!("{violation}: {error}"));
        }
    }
    inspection
}
