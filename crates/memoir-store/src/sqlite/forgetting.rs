//! SQL of forgetting.

use std::{collections::HashSet, path::PathBuf};

use async_trait::async_trait;
use memoir_core::{Document, ExchangeId, Timestamp};
use sqlx::{AssertSqlSafe, Sqlite, SqliteConnection, Transaction};

use super::{
    SqliteStore,
    documents::{DOCUMENTS, document_of},
    error::{file_error, store_error},
    remains,
    rows::list_of,
};
use crate::{Forget, Forgetting, Forgotten, Result, StoreError};

#[async_trait]
impl Forgetting for SqliteStore {
    async fn would_forget(&self, what: Forget) -> Result<Forgotten> {
        // It is done, looked at, and undone: nobody can tell more exactly.
        let mut transaction = self.begin_write().await?;
        let (forgotten, _) = forget(&mut transaction, what).await?;
        transaction.rollback().await.map_err(store_error)?;
        Ok(forgotten)
    }

    async fn forget(&self, what: Forget) -> Result<Forgotten> {
        let mut transaction = self.begin_write().await?;
        let (mut forgotten, texts) = forget(&mut transaction, what).await?;
        forgotten.traces_are_left = !self.commit_without_trace(transaction, texts).await?;
        Ok(forgotten)
    }
}

impl SqliteStore {
    /// Commits what deletes some texts, and leaves nothing of them in the file or in its log. Says whether it could: others may be reading.
    pub(super) async fn commit_without_trace(
        &self,
        mut transaction: Transaction<'_, Sqlite>,
        texts: Vec<String>,
    ) -> Result<bool> {
        for index in INDICES {
            forget_words(&mut transaction, index).await?;
        }
        // Whoever is killed before he is done has left this.
        let others: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM _traces)")
            .fetch_one(&mut *transaction)
            .await
            .map_err(store_error)?;
        let own: i64 = sqlx::query_scalar("INSERT INTO _traces DEFAULT VALUES RETURNING id")
            .fetch_one(&mut *transaction)
            .await
            .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        if others {
            // Nobody knows any more what they deleted.
            return self.write_anew(own).await;
        }
        if !self.empty_log().await? {
            return Ok(false);
        }
        if self.holds_remains(texts).await? {
            return self.write_anew(own).await;
        }
        self.note_gone(own).await.map(|()| true)
    }

    /// Does what somebody had begun who deleted text and was cut off before nothing was left of it. Says whether nothing is.
    pub(super) async fn finish_forgetting(&self) -> Result<bool> {
        let last: Option<i64> = sqlx::query_scalar("SELECT max(id) FROM _traces")
            .fetch_one(&self.writer)
            .await
            .map_err(store_error)?;
        match last {
            // Who is reading would keep it all from going.
            Some(last) if self.empty_log().await? => self.write_anew(last).await,
            Some(_) => Ok(false),
            None => Ok(true),
        }
    }

    /// Writes the file anew, so that nothing is left of what was deleted up to this. Says whether it could: others may be reading.
    async fn write_anew(&self, through: i64) -> Result<bool> {
        match sqlx::query("VACUUM").execute(&self.writer).await.map_err(store_error) {
            Ok(_) if self.empty_log().await? => self.note_gone(through).await.map(|()| true),
            Ok(_) | Err(StoreError::Busy) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn note_gone(&self, through: i64) -> Result<()> {
        let noted =
            sqlx::query("DELETE FROM _traces WHERE id <= ?").bind(through).execute(&self.writer).await;
        noted.map(drop).map_err(store_error)
    }

    /// Empties the write-ahead log, in which what is gone from the pages still stands. Says whether it could: others may be reading.
    async fn empty_log(&self) -> Result<bool> {
        let busy: i64 = sqlx::query_scalar("PRAGMA wal_checkpoint(TRUNCATE)")
            .fetch_one(&self.writer)
            .await
            .map_err(store_error)?;
        Ok(busy == 0)
    }

    /// Whether something of texts that were deleted is left in the file.
    async fn holds_remains(&self, texts: Vec<String>) -> Result<bool> {
        let file: String = sqlx::query_scalar("SELECT file FROM pragma_database_list WHERE name = 'main'")
            .fetch_one(&self.writer)
            .await
            .map_err(store_error)?;
        let path = PathBuf::from(file);
        // One that is in memory alone goes as a whole.
        if !path.is_file() {
            return Ok(false);
        }
        let (name, looked) = (path.clone(), move || remains::are_left(&path, &texts));
        let left =
            tokio::task::spawn_blocking(looked).await.map_err(|error| StoreError::Other(error.into()))?;
        left.map_err(|error| file_error(&name, &error))
    }
}

async fn ids(connection: &mut SqliteConnection, sql: &'static str, list: &str) -> Result<Vec<i64>> {
    sqlx::query_scalar(sql).bind(list).fetch_all(connection).await.map_err(store_error)
}

async fn run(connection: &mut SqliteConnection, sql: &'static str, list: &str) -> Result<u64> {
    let done = sqlx::query(sql).bind(list).execute(connection).await.map_err(store_error)?;
    Ok(done.rows_affected())
}

/// A full-text index, the table of its words, and the column that it is over.
struct TextIndex {
    name: &'static str,
    words: &'static str,
    column: &'static str,
}

const INDICES: [TextIndex; 2] = [
    TextIndex { name: "messages_text", words: "_message_words", column: "content" },
    TextIndex { name: "chunks_text", words: "_chunk_words", column: "text" },
];

/// Takes words that nobody has any more out of the inner pages of an index. Deleting a row takes them out of its leaves alone.
async fn forget_words(connection: &mut SqliteConnection, index: TextIndex) -> Result<()> {
    let TextIndex { name, words, column } = index;
    let left: bool = sqlx::query_scalar(AssertSqlSafe(format!(
        "WITH separators (word) AS (SELECT CAST(substr(term, 2) AS TEXT) FROM {name}_idx WHERE length(term) > 1)
         SELECT EXISTS (SELECT 1 FROM separators WHERE NOT EXISTS (
             SELECT 1 FROM {words} WHERE term >= word AND term <= word || char(1114111)))"
    )))
    .fetch_one(&mut *connection)
    .await
    .map_err(store_error)?;
    if left {
        // An index in one piece would stay as it is: it gets a second, and is then merged.
        sqlx::raw_sql(AssertSqlSafe(format!(
            "INSERT INTO {name} (rowid, {column}) VALUES (0, 'a');
             INSERT INTO {name} ({name}) VALUES ('optimize');
             INSERT INTO {name} ({name}, rowid, {column}) VALUES ('delete', 0, 'a');"
        )))
        .execute(connection)
        .await
        .map_err(store_error)?;
    }
    Ok(())
}

/// Forgets, and gives the texts that are gone.
async fn forget(connection: &mut SqliteConnection, what: Forget) -> Result<(Forgotten, Vec<String>)> {
    let (exchanges, messages) = meant(connection, what).await?;
    let (exchanges, messages) = (list_of(exchanges.into_iter()), list_of(messages.into_iter()));
    let mut talks = ids(
        connection,
        "SELECT DISTINCT conversation_id FROM exchanges WHERE id IN (SELECT value FROM json_each(?))",
        &exchanges,
    )
    .await?;
    talks.extend(
        ids(
            connection,
            "SELECT DISTINCT conversation_id FROM messages WHERE id IN (SELECT value FROM json_each(?))",
            &messages,
        )
        .await?,
    );
    if let Forget::Conversation(id) = what {
        // A fork in which nothing was said yet is one, too.
        talks.push(id.get());
    }
    let talks = list_of(talks.into_iter());
    let mut texts = texts(connection, &exchanges, &messages, &talks).await?;
    let mut forgotten = Forgotten {
        // Before the words are gone: where else they stand.
        lines: forget_lines(connection, &exchanges, &messages).await?,
        posts: posts(connection, &talks).await?,
        ..Forgotten::default()
    };

    let forks = forks(connection, &talks).await?;
    let forks = list_of(forks.into_iter());
    let posts = list_of(forgotten.posts.iter().map(|post| post.id.get()));
    texts.extend(texts_of_documents(connection, &posts).await?);
    run(connection, "DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?))", &posts).await?;
    let told =
        "SELECT id FROM exchanges WHERE summary IS NOT NULL AND id IN (SELECT value FROM json_each(?))";
    forgotten.summaries += ids(connection, told, &exchanges).await?.len() as u64;
    let told =
        "SELECT id FROM conversations WHERE summary IS NOT NULL AND id IN (SELECT value FROM json_each(?))";
    forgotten.summaries += ids(connection, told, &talks).await?.len() as u64;

    (forgotten.quotations, forgotten.told) = forget_quotations(connection, &exchanges, &messages).await?;

    // A message alone: the exchange holds what was asked and answered once more.
    run(
        connection,
        "UPDATE exchanges SET
             user_message = iif(EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = 'user'
                                        AND id IN (SELECT value FROM json_each(?1))), '', user_message),
             assistant_message = iif(EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id
                                             AND role = 'assistant' AND id IN (SELECT value FROM json_each(?1))),
                                     '', assistant_message),
             summary = NULL, summary_by = NULL
         WHERE id IN (SELECT exchange_id FROM messages WHERE id IN (SELECT value FROM json_each(?1)))",
        &messages,
    )
    .await?;
    let said = "SELECT id FROM messages WHERE exchange_id IN (SELECT value FROM json_each(?))";
    forgotten.messages = ids(connection, said, &exchanges).await?.len() as u64;
    forgotten.messages +=
        run(connection, "DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?))", &messages)
            .await?;
    forgotten.exchanges =
        run(connection, "DELETE FROM exchanges WHERE id IN (SELECT value FROM json_each(?))", &exchanges)
            .await?;
    // A digest may tell of more than it says: it can have gone back in time.
    for list in [&talks, &forks] {
        run(
            connection,
            "DELETE FROM digests WHERE conversation_id IN (SELECT value FROM json_each(?))",
            list,
        )
        .await?;
    }
    hang_on_grandparents(connection, &talks).await?;
    forgotten.conversations = run(
        connection,
        "DELETE FROM conversations WHERE id IN (SELECT value FROM json_each(?))
           AND NOT EXISTS (SELECT 1 FROM exchanges WHERE conversation_id = conversations.id)",
        &talks,
    )
    .await?;
    forgotten.conversations += rename_forks(connection, &forks).await?;
    // What is left has a title and a summary that told of it.
    run(
        connection,
        "UPDATE conversations SET title = 'Conversation ' || id, summary = NULL, summary_by = NULL,
                                  summary_through = NULL, summary_due = 1
         WHERE id IN (SELECT value FROM json_each(?))",
        &talks,
    )
    .await?;
    Ok((forgotten, texts))
}

/// What is said in some exchanges and messages, and about them.
async fn texts(
    connection: &mut SqliteConnection,
    exchanges: &str,
    messages: &str,
    talks: &str,
) -> Result<Vec<String>> {
    sqlx::query_scalar(
        "SELECT content FROM messages WHERE exchange_id IN (SELECT value FROM json_each(?1))
                                         OR id IN (SELECT value FROM json_each(?2))
         UNION SELECT summary FROM exchanges WHERE summary IS NOT NULL AND id IN (SELECT value FROM json_each(?1))
         UNION SELECT summary FROM conversations
               WHERE summary IS NOT NULL AND id IN (SELECT value FROM json_each(?3))
         UNION SELECT title FROM conversations WHERE id IN (SELECT value FROM json_each(?3))",
    )
    .bind(exchanges)
    .bind(messages)
    .bind(talks)
    .fetch_all(connection)
    .await
    .map_err(store_error)
}

/// What some documents say, and are called.
pub(super) async fn texts_of_documents(
    connection: &mut SqliteConnection,
    documents: &str,
) -> Result<Vec<String>> {
    sqlx::query_scalar(
        "SELECT text FROM chunks WHERE document_id IN (SELECT value FROM json_each(?1))
         UNION SELECT title FROM documents WHERE id IN (SELECT value FROM json_each(?1))",
    )
    .bind(documents)
    .fetch_all(connection)
    .await
    .map_err(store_error)
}

/// The exchanges that are meant as a whole, and the messages that are meant alone.
async fn meant(connection: &mut SqliteConnection, what: Forget) -> Result<(Vec<i64>, Vec<i64>)> {
    let whole = match what {
        Forget::Message(id) => {
            let of: Option<(i64, bool)> = sqlx::query_as(
                "SELECT exchange_id, EXISTS (SELECT 1 FROM messages AS other
                                             WHERE other.exchange_id = messages.exchange_id AND other.id <> messages.id
                                               AND other.redacted = 0 AND other.role <> 'tool')
                 FROM messages WHERE id = ?",
            )
            .bind(id.get())
            .fetch_optional(connection)
            .await
            .map_err(store_error)?;
            return Ok(match of {
                Some((_, true)) => (Vec::new(), vec![id.get()]),
                Some((exchange, false)) => (vec![exchange], Vec::new()),
                None => (Vec::new(), Vec::new()),
            });
        }
        Forget::Exchange(id) => {
            sqlx::query_scalar("SELECT id FROM exchanges WHERE id = ?")
                .bind(id.get())
                .fetch_all(connection)
                .await
        }
        Forget::Conversation(id) => {
            sqlx::query_scalar("SELECT id FROM exchanges WHERE conversation_id = ?")
                .bind(id.get())
                .fetch_all(connection)
                .await
        }
        Forget::Span { since, until } => {
            sqlx::query_scalar("SELECT id FROM exchanges WHERE started >= ? AND started < ?")
                .bind(since.map_or(i64::MIN, Timestamp::as_millis))
                .bind(until.map_or(i64::MAX, Timestamp::as_millis))
                .fetch_all(connection)
                .await
        }
    };
    Ok((whole.map_err(store_error)?, Vec::new()))
}

/// The conversations that branched off some, and off those.
async fn forks(connection: &mut SqliteConnection, talks: &str) -> Result<Vec<i64>> {
    ids(
        connection,
        "WITH RECURSIVE forks (id) AS (
             SELECT id FROM conversations WHERE forked_from IN (SELECT value FROM json_each(?))
             UNION SELECT conversations.id FROM conversations JOIN forks ON conversations.forked_from = forks.id)
         SELECT id FROM forks",
        talks,
    )
    .await
}

/// Deletes the lines that were typed for some exchanges and messages. A line that named files was said with these behind it.
async fn forget_lines(connection: &mut SqliteConnection, exchanges: &str, messages: &str) -> Result<u64> {
    let mut lines = 0;
    for (of, list) in [("exchange_id", exchanges), ("id", messages)] {
        let said = format!("FROM messages WHERE role = 'user' AND {of} IN (SELECT value FROM json_each(?1))");
        let files = "instr(content, char(10, 10) || '<file ')";
        let sql = format!(
            "DELETE FROM command_history WHERE line IN (SELECT content {said})
               OR line IN (SELECT substr(content, 1, {files} - 1) {said} AND {files} > 0)"
        );
        let done = sqlx::query(AssertSqlSafe(sql)).bind(list).execute(&mut *connection).await;
        lines += done.map_err(store_error)?.rows_affected();
    }
    Ok(lines)
}

/// Deletes answers of memory itself that quote some exchanges and messages: how many, and which others had them in their prompts.
async fn forget_quotations(
    connection: &mut SqliteConnection,
    exchanges: &str,
    messages: &str,
) -> Result<(u64, Vec<ExchangeId>)> {
    // Both sides of an exchange are quoted together.
    let mut touched = ids(
        connection,
        "SELECT DISTINCT exchange_id FROM messages WHERE id IN (SELECT value FROM json_each(?))",
        messages,
    )
    .await?;
    touched.extend(ids(connection, "SELECT value FROM json_each(?)", exchanges).await?);
    let recalled = ids(
        connection,
        "SELECT DISTINCT recall_log.exchange_id FROM messages JOIN recall_log ON recall_log.message_id = messages.id
         WHERE messages.exchange_id IN (SELECT value FROM json_each(?))",
        &list_of(touched.iter().copied()),
    )
    .await?;
    let touched: HashSet<i64> = touched.into_iter().collect();
    let elsewhere = list_of(recalled.into_iter().filter(|exchange| !touched.contains(exchange)));
    let quoted = delete_quotations(connection, &elsewhere).await?;
    let told = ids(
        connection,
        "SELECT id FROM exchanges WHERE id IN (SELECT value FROM json_each(?)) AND assistant_message <> ''",
        &elsewhere,
    )
    .await?;
    Ok((quoted, told.into_iter().map(ExchangeId::new).collect()))
}

/// Deletes answers of memory itself that quote a document.
pub(super) async fn delete_quotations_of(connection: &mut SqliteConnection, documents: &str) -> Result<()> {
    let quoting = ids(
        connection,
        "SELECT DISTINCT recall_log.exchange_id FROM chunks JOIN recall_log ON recall_log.chunk_id = chunks.id
         WHERE chunks.document_id IN (SELECT value FROM json_each(?))",
        documents,
    )
    .await?;
    delete_quotations(connection, &list_of(quoting.into_iter())).await.map(drop)
}

/// Deletes what memory itself answered in some exchanges; the questions stay.
async fn delete_quotations(connection: &mut SqliteConnection, exchanges: &str) -> Result<u64> {
    run(
        connection,
        "UPDATE exchanges SET assistant_message = '', summary = NULL, summary_by = NULL
         WHERE id IN (SELECT value FROM json_each(?))
           AND EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = 'assistant' AND derived = 1)",
        exchanges,
    )
    .await?;
    run(
        connection,
        "DELETE FROM messages WHERE role = 'assistant' AND derived = 1
           AND exchange_id IN (SELECT value FROM json_each(?))",
        exchanges,
    )
    .await
}

/// What branched off conversations that go, branches off what those had branched off.
async fn hang_on_grandparents(connection: &mut SqliteConnection, talks: &str) -> Result<()> {
    // Once for each generation.
    while run(
        connection,
        "UPDATE conversations SET
             forked_through = min(conversations.forked_through, parent.forked_through), forked_from = parent.forked_from
         FROM conversations AS parent
         WHERE parent.id = conversations.forked_from AND parent.forked_from IS NOT NULL
           AND parent.id IN (SELECT value FROM json_each(?))
           AND NOT EXISTS (SELECT 1 FROM exchanges WHERE conversation_id = parent.id)",
        talks,
    )
    .await?
        > 0
    {}
    Ok(())
}

/// Takes away the title that a fork has from its parent, and the fork itself if nothing is left of it. Tells how many went.
async fn rename_forks(connection: &mut SqliteConnection, forks: &str) -> Result<u64> {
    let gone = run(
        connection,
        "DELETE FROM conversations WHERE id IN (SELECT value FROM json_each(?)) AND forked_from IS NULL
           AND NOT EXISTS (SELECT 1 FROM exchanges WHERE conversation_id = conversations.id)",
        forks,
    )
    .await?;
    run(
        connection,
        "UPDATE conversations SET title = 'Conversation ' || id WHERE id IN (SELECT value FROM json_each(?))",
        forks,
    )
    .await?;
    Ok(gone)
}

/// The posts that were written from some conversations.
async fn posts(connection: &mut SqliteConnection, talks: &str) -> Result<Vec<Document>> {
    sqlx::query(AssertSqlSafe(format!(
        "{DOCUMENTS} WHERE id IN (SELECT document_id FROM post_sources
                                  WHERE conversation_id IN (SELECT value FROM json_each(?)))"
    )))
    .bind(talks)
    .try_map(document_of)
    .fetch_all(connection)
    .await
    .map_err(store_error)
}
