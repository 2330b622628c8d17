//! What must hold in a memory, whatever happened to who wrote it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use sqlx::{Connection as _, SqliteConnection};

use super::block_on;
use crate::torture::{Said, SaidById};

/// Questions whose answer must be nothing, and what it means if it is not.
const NEVER: [(&str, &str); 19] = [
    (
        "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
        "the file is damaged",
    ),
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
    // What takes part in each is what `UNPACKED` reads in `memoir-store-sqlite/src/index`. A segment begins behind the row
    // before its first, and ends with its last. What its data say of its rows is not looked at: that would mean to decode
    // them here a second time.
    (
        "SELECT id FROM _index_segments AS segment
         WHERE segment.kind = 'messages' AND (segment.count, segment.last_id) IS NOT (
             SELECT count(*), max(row.id) FROM messages AS row
             WHERE row.id BETWEEN segment.first_id AND segment.last_id
               AND row.redacted = 0 AND row.derived = 0 AND row.role <> 'tool')",
        "segments of messages that do not hold what they cover",
    ),
    (
        "SELECT id FROM _index_segments AS segment
         WHERE segment.kind = 'vectors' AND (segment.count, segment.last_id) IS NOT (
             SELECT count(*), max(row.id) FROM embeddings AS row
             WHERE row.id BETWEEN segment.first_id AND segment.last_id
               AND row.model || '#' || row.dimensions = segment.model)",
        "segments of vectors that do not hold what they cover",
    ),
    (
        "SELECT id FROM _index_segments AS segment
         WHERE segment.kind = 'summaries' AND (segment.count, segment.last_id) IS NOT (
             SELECT count(*), max(row.id) FROM summary_embeddings AS row
             WHERE row.id BETWEEN segment.first_id AND segment.last_id
               AND row.model || '#' || row.dimensions = segment.model)",
        "segments of summaries that do not hold what they cover",
    ),
    (
        "SELECT id FROM _index_segments AS segment
         WHERE segment.kind = 'chunks' AND (segment.count, segment.last_id) IS NOT (
             SELECT count(*), max(row.id) FROM chunk_embeddings AS row
             WHERE row.id BETWEEN segment.first_id AND segment.last_id
               AND row.model || '#' || row.dimensions = segment.model)",
        "segments of chunks that do not hold what they cover",
    ),
    (
        "SELECT one.id FROM _index_segments AS one JOIN _index_segments AS other
           ON other.kind = one.kind AND other.model = one.model AND other.id > one.id
          AND other.first_id <= one.last_id AND other.last_id >= one.first_id",
        "segments that cover the same",
    ),
];

/// Every exchange, with what was asked in it and what was answered.
const SAID: &str = "SELECT id, coalesce((SELECT content FROM messages
                                         WHERE exchange_id = exchanges.id AND role = 'user'
                                         ORDER BY messages.id LIMIT 1), ''), assistant_message FROM exchanges";

/// Every document: the file that it is in, and its text.
const DOCUMENTS: &str = "SELECT source, coalesce((SELECT group_concat(text, char(10)) FROM chunks
                                                  WHERE document_id = documents.id), '') FROM documents";

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

/// A memory, seen from outside.
#[derive(Debug, Default)]
pub struct Seen {
    /// What does not hold.
    pub faults: Vec<String>,
    /// Every exchange, with what was said in it.
    pub exchanges: SaidById,
    /// Every document: the file that it is in, and its text.
    pub documents: BTreeMap<String, String>,
    /// The kinds of data whose index was packed into segments.
    pub segments: BTreeSet<String>,
}

/// Looks at the memory at `path`; there is nothing in one that is not there.
///
/// It looks at a copy: whoever opens a memory mends what a crash left, and that is for the program to do.
pub fn look_at(path: &Path) -> Seen {
    if !path.exists() {
        return Seen::default();
    }
    let folder = tempfile::TempDir::new().unwrap();
    let copy = copy_of(path, folder.path());
    block_on(async {
        // The copy need not outlive anything.
        let options = sqlx::sqlite::SqliteConnectOptions::new()
            .filename(&copy)
            .synchronous(sqlx::sqlite::SqliteSynchronous::Off);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let seen = see(&mut connection).await;
        connection.close().await.unwrap();
        seen
    })
}

/// Copies a database with the log, and with the journal from before there is one. What is shared between processes is
/// made anew.
fn copy_of(path: &Path, folder: &Path) -> PathBuf {
    let beside = |ending: &str| path.with_extension(format!("db-{ending}"));
    let copy = folder.join("memoir.db");
    std::fs::copy(path, &copy).unwrap();
    // A log that has only its second name gets its first one back from whoever opens the memory.
    let log = if beside("wal").exists() { "wal" } else { "wal-kept" };
    for (from, to) in [(log, "wal"), ("journal", "journal")] {
        if beside(from).exists() {
            std::fs::copy(beside(from), copy.with_extension(format!("db-{to}"))).unwrap();
        }
    }
    copy
}

async fn see(connection: &mut SqliteConnection) -> Seen {
    let mut seen = Seen::default();
    let made: i64 =
        sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await.unwrap();
    if made == 0 {
        // Killed before there was anything.
        return seen;
    }
    for (question, meaning) in NEVER {
        let rows = sqlx::query(question).fetch_all(&mut *connection).await;
        match rows {
            Ok(rows) if rows.is_empty() => {}
            Ok(rows) => seen.faults.push(format!("{} {meaning}", rows.len())),
            Err(error) => seen.faults.push(format!("{meaning}: {error}")),
        }
    }
    let exchanges: Result<Vec<(i64, String, String)>, _> =
        sqlx::query_as(SAID).fetch_all(&mut *connection).await;
    let documents: Result<Vec<(String, String)>, _> =
        sqlx::query_as(DOCUMENTS).fetch_all(&mut *connection).await;
    match exchanges {
        Ok(rows) => {
            let said = |(id, asked, answered)| (id, Said { asked, answered });
            seen.exchanges = rows.into_iter().map(said).collect();
        }
        Err(error) => seen.faults.push(format!("exchanges that cannot be read: {error}")),
    }
    match documents {
        Ok(rows) => seen.documents = rows.into_iter().collect(),
        Err(error) => seen.faults.push(format!("documents that cannot be read: {error}")),
    }
    let segments: Result<Vec<String>, _> =
        sqlx::query_scalar("SELECT DISTINCT kind FROM _index_segments").fetch_all(&mut *connection).await;
    match segments {
        Ok(kinds) => seen.segments = kinds.into_iter().collect(),
        Err(error) => seen.faults.push(format!("segments that cannot be read: {error}")),
    }
    for (statement, meaning) in COMPARED {
        if let Err(error) = sqlx::query(statement).execute(&mut *connection).await {
            seen.faults.push(format!("{meaning}: {error}"));
        }
    }
    seen
}
