//! SQL that deletes content with everything that was made of it.

use memoir_core::{Document, Timestamp};
use memoir_store::{Forget, Forgotten, Result};
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::{
    document_rows::{DOCUMENTS, document_of},
    error::SqlResultExt as _,
    quotations::delete_quotations_of_content,
    rows::{execute_for, fetch_ids, list_of},
};

/// Ids of what is deleted, as JSON lists for SQL.
struct Targets {
    /// Exchanges that are deleted as a whole.
    exchanges: String,
    /// Messages that are deleted alone.
    messages: String,
    /// Conversations that lose something.
    conversations: String,
    /// Conversations that branched off these.
    forks: String,
}

/// Deletes content with everything that was made of it. Returns what was deleted, and the texts of it.
pub(super) async fn delete_content(
    connection: &mut SqliteConnection,
    what: Forget,
) -> Result<(Forgotten, Vec<String>)> {
    let targets = find_targets(connection, what).await?;
    // The texts, the lines and the posts are found by what is deleted below.
    let mut texts = collect_texts(connection, &targets).await?;
    let mut forgotten = Forgotten {
        lines: delete_lines(connection, &targets).await?,
        posts: find_posts(connection, &targets.conversations).await?,
        ..Forgotten::default()
    };
    texts.extend(delete_posts(connection, &forgotten.posts).await?);
    forgotten.summaries = count_summaries(connection, &targets).await?;
    (forgotten.quotations, forgotten.told) =
        delete_quotations_of_content(connection, &targets.exchanges, &targets.messages).await?;
    clear_copies_of_messages(connection, &targets.messages).await?;
    forgotten.messages = delete_messages(connection, &targets).await?;
    forgotten.exchanges = execute_for(
        connection,
        "DELETE FROM exchanges WHERE id IN (SELECT value FROM json_each(?))",
        &targets.exchanges,
    )
    .await?;
    delete_digests(connection, &targets).await?;
    reparent_forks(connection, &targets.conversations).await?;
    forgotten.conversations = delete_empty_conversations(connection, &targets.conversations).await?;
    forgotten.conversations += rename_forks(connection, &targets.forks).await?;
    reset_titles_and_summaries(connection, &targets.conversations).await?;
    Ok((forgotten, texts))
}

async fn find_targets(connection: &mut SqliteConnection, what: Forget) -> Result<Targets> {
    let (exchanges, messages) = find_exchanges_and_messages(connection, what).await?;
    let (exchanges, messages) = (list_of(exchanges.into_iter()), list_of(messages.into_iter()));
    let mut conversations = fetch_ids(
        connection,
        "SELECT DISTINCT conversation_id FROM exchanges WHERE id IN (SELECT value FROM json_each(?))",
        &exchanges,
    )
    .await?;
    conversations.extend(
        fetch_ids(
            connection,
            "SELECT DISTINCT conversation_id FROM messages WHERE id IN (SELECT value FROM json_each(?))",
            &messages,
        )
        .await?,
    );
    if let Forget::Conversation(id) = what {
        // A fork without exchanges of its own is a conversation, too.
        conversations.push(id.get());
    }
    let conversations = list_of(conversations.into_iter());
    let forks = find_forks(connection, &conversations).await?;
    Ok(Targets { exchanges, messages, conversations, forks: list_of(forks.into_iter()) })
}

/// Deletes posts and returns their texts.
async fn delete_posts(connection: &mut SqliteConnection, posts: &[Document]) -> Result<Vec<String>> {
    let posts = list_of(posts.iter().map(|post| post.id.get()));
    let texts = collect_document_texts(connection, &posts).await?;
    execute_for(connection, "DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?))", &posts)
        .await?;
    Ok(texts)
}

/// Returns how many summaries are deleted or have to be made again.
async fn count_summaries(connection: &mut SqliteConnection, targets: &Targets) -> Result<u64> {
    let exchanges = fetch_ids(
        connection,
        "SELECT id FROM exchanges WHERE summary IS NOT NULL AND id IN (SELECT value FROM json_each(?))",
        &targets.exchanges,
    )
    .await?;
    let conversations = fetch_ids(
        connection,
        "SELECT id FROM conversations WHERE summary IS NOT NULL AND id IN (SELECT value FROM json_each(?))",
        &targets.conversations,
    )
    .await?;
    Ok((exchanges.len() + conversations.len()) as u64)
}

/// Clears what an exchange repeats of messages that are deleted alone: the prompt, the answer, the summary.
async fn clear_copies_of_messages(connection: &mut SqliteConnection, messages: &str) -> Result<u64> {
    execute_for(
        connection,
        "UPDATE exchanges SET
             user_message = iif(EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = 'user'
                                        AND id IN (SELECT value FROM json_each(?1))), '', user_message),
             assistant_message = iif(EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id
                                             AND role = 'assistant' AND id IN (SELECT value FROM json_each(?1))),
                                     '', assistant_message),
             summary = NULL, summary_by = NULL
         WHERE id IN (SELECT exchange_id FROM messages WHERE id IN (SELECT value FROM json_each(?1)))",
        messages,
    )
    .await
}

/// Deletes the messages that are deleted alone. Returns their number together with that of the messages whose exchanges
/// are deleted.
async fn delete_messages(connection: &mut SqliteConnection, targets: &Targets) -> Result<u64> {
    let of_exchanges = fetch_ids(
        connection,
        "SELECT id FROM messages WHERE exchange_id IN (SELECT value FROM json_each(?))",
        &targets.exchanges,
    )
    .await?;
    let alone = execute_for(
        connection,
        "DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?))",
        &targets.messages,
    )
    .await?;
    Ok(of_exchanges.len() as u64 + alone)
}

/// Deletes the digests of conversations that lose something, and of their forks. A digest may cover more than the exchanges
/// up to its end: the window may have gone back since it was made.
async fn delete_digests(connection: &mut SqliteConnection, targets: &Targets) -> Result<()> {
    for list in [&targets.conversations, &targets.forks] {
        execute_for(
            connection,
            "DELETE FROM digests WHERE conversation_id IN (SELECT value FROM json_each(?))",
            list,
        )
        .await?;
    }
    Ok(())
}

async fn delete_empty_conversations(connection: &mut SqliteConnection, conversations: &str) -> Result<u64> {
    execute_for(
        connection,
        "DELETE FROM conversations WHERE id IN (SELECT value FROM json_each(?))
           AND NOT EXISTS (SELECT 1 FROM exchanges WHERE conversation_id = conversations.id)",
        conversations,
    )
    .await
}

/// Replaces the titles and summaries of conversations that lost something, because these may repeat it.
async fn reset_titles_and_summaries(connection: &mut SqliteConnection, conversations: &str) -> Result<u64> {
    execute_for(
        connection,
        "UPDATE conversations SET title = 'Conversation ' || id, summary = NULL, summary_by = NULL,
                                  summary_through = NULL, summary_due = 1
         WHERE id IN (SELECT value FROM json_each(?))",
        conversations,
    )
    .await
}

/// Returns the texts of what is deleted, and what was made of them.
async fn collect_texts(connection: &mut SqliteConnection, targets: &Targets) -> Result<Vec<String>> {
    sqlx::query_scalar(
        "SELECT content FROM messages WHERE exchange_id IN (SELECT value FROM json_each(?1))
                                         OR id IN (SELECT value FROM json_each(?2))
         UNION SELECT summary FROM exchanges WHERE summary IS NOT NULL AND id IN (SELECT value FROM json_each(?1))
         UNION SELECT summary FROM conversations
               WHERE summary IS NOT NULL AND id IN (SELECT value FROM json_each(?3))
         UNION SELECT title FROM conversations WHERE id IN (SELECT value FROM json_each(?3))",
    )
    .bind(&targets.exchanges)
    .bind(&targets.messages)
    .bind(&targets.conversations)
    .fetch_all(connection)
    .await
    .or_store_error()
}

/// Returns the texts and titles of some documents.
pub(super) async fn collect_document_texts(
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
    .or_store_error()
}

/// Returns the exchanges to delete as a whole, and the messages to delete alone.
async fn find_exchanges_and_messages(
    connection: &mut SqliteConnection,
    what: Forget,
) -> Result<(Vec<i64>, Vec<i64>)> {
    let whole = match what {
        Forget::Message(id) => {
            let found: Option<(i64, bool)> = sqlx::query_as(
                "SELECT exchange_id, EXISTS (SELECT 1 FROM messages AS other
                                             WHERE other.exchange_id = messages.exchange_id AND other.id <> messages.id
                                               AND other.redacted = 0 AND other.role <> 'tool')
                 FROM messages WHERE id = ?",
            )
            .bind(id.get())
            .fetch_optional(connection)
            .await
            .or_store_error()?;
            return Ok(match found {
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
    Ok((whole.or_store_error()?, Vec::new()))
}

/// Returns the conversations that branched off some, and the forks of these.
async fn find_forks(connection: &mut SqliteConnection, conversations: &str) -> Result<Vec<i64>> {
    fetch_ids(
        connection,
        "WITH RECURSIVE forks (id) AS (
             SELECT id FROM conversations WHERE forked_from IN (SELECT value FROM json_each(?))
             UNION SELECT conversations.id FROM conversations JOIN forks ON conversations.forked_from = forks.id)
         SELECT id FROM forks",
        conversations,
    )
    .await
}

/// Deletes the lines of the command history that were typed for the deleted messages. Returns their number. A line that
/// named files was sent with the files behind it.
async fn delete_lines(connection: &mut SqliteConnection, targets: &Targets) -> Result<u64> {
    let mut deleted = 0;
    for (column, list) in [("exchange_id", &targets.exchanges), ("id", &targets.messages)] {
        let prompts =
            format!("FROM messages WHERE role = 'user' AND {column} IN (SELECT value FROM json_each(?1))");
        let files = "instr(content, char(10, 10) || '<file ')";
        let sql = format!(
            "DELETE FROM command_history WHERE line IN (SELECT content {prompts})
               OR line IN (SELECT substr(content, 1, {files} - 1) {prompts} AND {files} > 0)"
        );
        let done = sqlx::query(AssertSqlSafe(sql)).bind(list).execute(&mut *connection).await;
        deleted += done.or_store_error()?.rows_affected();
    }
    Ok(deleted)
}

/// Attaches the forks of conversations that will be deleted to what these had branched off themselves.
async fn reparent_forks(connection: &mut SqliteConnection, conversations: &str) -> Result<()> {
    // Once for each generation.
    while execute_for(
        connection,
        "UPDATE conversations SET
             forked_through = min(conversations.forked_through, parent.forked_through), forked_from = parent.forked_from
         FROM conversations AS parent
         WHERE parent.id = conversations.forked_from AND parent.forked_from IS NOT NULL
           AND parent.id IN (SELECT value FROM json_each(?))
           AND NOT EXISTS (SELECT 1 FROM exchanges WHERE conversation_id = parent.id)",
        conversations,
    )
    .await?
        > 0
    {}
    Ok(())
}

/// Renames forks, whose titles come from their parents, and deletes those that have nothing left. Returns how many were
/// deleted.
async fn rename_forks(connection: &mut SqliteConnection, forks: &str) -> Result<u64> {
    let gone = execute_for(
        connection,
        "DELETE FROM conversations WHERE id IN (SELECT value FROM json_each(?)) AND forked_from IS NULL
           AND NOT EXISTS (SELECT 1 FROM exchanges WHERE conversation_id = conversations.id)",
        forks,
    )
    .await?;
    execute_for(
        connection,
        "UPDATE conversations SET title = 'Conversation ' || id WHERE id IN (SELECT value FROM json_each(?))",
        forks,
    )
    .await?;
    Ok(gone)
}

/// Returns the posts that were written from some conversations.
async fn find_posts(connection: &mut SqliteConnection, conversations: &str) -> Result<Vec<Document>> {
    sqlx::query(AssertSqlSafe(format!(
        "{DOCUMENTS} WHERE id IN (SELECT document_id FROM post_sources
                                  WHERE conversation_id IN (SELECT value FROM json_each(?)))"
    )))
    .bind(conversations)
    .try_map(document_of)
    .fetch_all(connection)
    .await
    .or_store_error()
}
