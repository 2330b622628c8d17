//! SQL that deletes content with everything derived from it.

use memoir_core::{Document, Timestamp};
use memoir_store::{Forget, ForgetOutcome, Result};
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::{
    document_rows::{DOCUMENTS, read_document},
    error::SqlResultExt as _,
    imports::{find_origins, record_forgotten},
    quotations::delete_quotations_of_content,
    rows::{execute_for, fetch_ids, to_json_list},
};

/// The ids of content to delete, as JSON lists for SQL.
struct Targets {
    /// Exchanges to delete as a whole.
    exchanges: String,
    /// Messages to delete from exchanges that remain.
    messages: String,
    /// Conversations of these exchanges and messages.
    conversations: String,
    /// Direct and indirect forks of these conversations.
    forks: String,
}

/// Deletes content with everything derived from it. Returns what was deleted, and the deleted texts.
pub(super) async fn delete_content(
    connection: &mut SqliteConnection,
    selection: Forget,
) -> Result<(ForgetOutcome, Vec<String>)> {
    let targets = find_targets(connection, selection).await?;
    // Texts, lines and posts are looked up first, because the lookups use rows that are deleted below.
    let mut texts = collect_texts(connection, &targets).await?;
    let mut outcome = ForgetOutcome {
        lines: delete_lines(connection, &targets).await?,
        posts: find_posts(connection, &targets.conversations).await?,
        ..ForgetOutcome::default()
    };
    texts.extend(delete_posts(connection, &outcome.posts).await?);
    outcome.summaries = count_summaries(connection, &targets).await?;
    (outcome.quotations, outcome.prompted_exchanges) = delete_quotations_of_content(
        connection,
        &targets.exchanges,
        &targets.messages,
        &targets.conversations,
    )
    .await?;
    clear_copies_of_messages(connection, &targets.messages).await?;
    outcome.messages = delete_messages(connection, &targets).await?;
    outcome.exchanges = execute_for(
        connection,
        "DELETE FROM exchanges WHERE id IN (SELECT value FROM json_each(?))",
        &targets.exchanges,
    )
    .await?;
    delete_digests(connection, &targets).await?;
    let origins = find_origins(connection, &targets.conversations).await?;
    reparent_forks(connection, &targets.conversations).await?;
    outcome.conversations = delete_empty_conversations(connection, &targets.conversations).await?;
    outcome.conversations += rename_forks(connection, &targets.forks).await?;
    record_forgotten(connection, &origins).await?;
    reset_titles_and_summaries(connection, &targets.conversations).await?;
    Ok((outcome, texts))
}

async fn find_targets(connection: &mut SqliteConnection, selection: Forget) -> Result<Targets> {
    let (exchanges, messages) = find_exchanges_and_messages(connection, selection).await?;
    let (exchanges, messages) = (to_json_list(exchanges.into_iter()), to_json_list(messages.into_iter()));
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
    if let Forget::Conversation(id) = selection {
        // The lookups above miss a fork that has no exchanges of its own.
        conversations.push(id.get());
    }
    let conversations = to_json_list(conversations.into_iter());
    let forks = find_forks(connection, &conversations).await?;
    Ok(Targets { exchanges, messages, conversations, forks: to_json_list(forks.into_iter()) })
}

/// Deletes posts and returns their texts.
async fn delete_posts(connection: &mut SqliteConnection, posts: &[Document]) -> Result<Vec<String>> {
    let posts = to_json_list(posts.iter().map(|post| post.id.get()));
    let texts = collect_document_texts(connection, &posts).await?;
    execute_for(connection, "DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?))", &posts)
        .await?;
    Ok(texts)
}

/// Returns the number of summaries that are deleted or must be regenerated.
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

/// Clears the fields in which an exchange repeats these messages: the prompt, the answer and the summary.
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

/// Deletes individual messages. Returns their number plus that of the messages in exchanges to be deleted.
async fn delete_messages(connection: &mut SqliteConnection, targets: &Targets) -> Result<u64> {
    let in_exchanges = fetch_ids(
        connection,
        "SELECT id FROM messages WHERE exchange_id IN (SELECT value FROM json_each(?))",
        &targets.exchanges,
    )
    .await?;
    let individual = execute_for(
        connection,
        "DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?))",
        &targets.messages,
    )
    .await?;
    Ok(in_exchanges.len() as u64 + individual)
}

/// Deletes the digests of the affected conversations and of their forks. All of them, because a digest may cover
/// exchanges after its end: the window may have moved back since it was written.
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

/// Resets the titles and summaries of conversations, because they may repeat deleted content.
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

/// Returns the texts, summaries and titles to be deleted.
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

/// Returns the texts and titles of these documents.
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

/// Returns the exchanges to delete as a whole, and the messages to delete individually.
async fn find_exchanges_and_messages(
    connection: &mut SqliteConnection,
    selection: Forget,
) -> Result<(Vec<i64>, Vec<i64>)> {
    let exchanges = match selection {
        Forget::Message(id) => {
            let row: Option<(i64, bool)> = sqlx::query_as(
                "SELECT exchange_id, EXISTS (SELECT 1 FROM messages AS other
                                             WHERE other.exchange_id = messages.exchange_id AND other.id <> messages.id
                                               AND other.redacted = 0 AND other.role <> 'tool')
                 FROM messages WHERE id = ?",
            )
            .bind(id.get())
            .fetch_optional(connection)
            .await
            .or_store_error()?;
            return Ok(match row {
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
    Ok((exchanges.or_store_error()?, Vec::new()))
}

/// Returns the direct and indirect forks of these conversations.
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

/// Deletes the command history lines that became the deleted messages. Returns their number. If a line attached files,
/// the message consists of the line followed by the files.
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
        let result = sqlx::query(AssertSqlSafe(sql)).bind(list).execute(&mut *connection).await;
        deleted += result.or_store_error()?.rows_affected();
    }
    Ok(deleted)
}

/// Attaches the forks of conversations that will be deleted to the parents of these conversations.
async fn reparent_forks(connection: &mut SqliteConnection, conversations: &str) -> Result<()> {
    // Each pass handles one generation.
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

/// Renames forks, whose titles come from their parents, and deletes those without any exchanges. Returns the number
/// deleted.
async fn rename_forks(connection: &mut SqliteConnection, forks: &str) -> Result<u64> {
    let deleted = execute_for(
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
    Ok(deleted)
}

/// Returns the posts written from these conversations.
async fn find_posts(connection: &mut SqliteConnection, conversations: &str) -> Result<Vec<Document>> {
    sqlx::query(AssertSqlSafe(format!(
        "{DOCUMENTS} WHERE id IN (SELECT document_id FROM post_sources
                                  WHERE conversation_id IN (SELECT value FROM json_each(?)))"
    )))
    .bind(conversations)
    .try_map(read_document)
    .fetch_all(connection)
    .await
    .or_store_error()
}
