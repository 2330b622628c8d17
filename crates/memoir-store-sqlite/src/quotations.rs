//! SQL that deletes answers of memory itself: they quote, word for word, what is deleted.

use std::collections::HashSet;

use memoir_core::ExchangeId;
use memoir_store::Result;
use sqlx::SqliteConnection;

use super::rows::{execute_for, fetch_ids, list_of};

/// Deletes answers of memory itself that quote what is deleted. Returns their number, and the exchanges that had it in their
/// prompts.
pub(super) async fn delete_quotations_of_content(
    connection: &mut SqliteConnection,
    exchanges: &str,
    messages: &str,
) -> Result<(u64, Vec<ExchangeId>)> {
    // Both sides of an exchange are quoted together.
    let mut touched = fetch_ids(
        connection,
        "SELECT DISTINCT exchange_id FROM messages WHERE id IN (SELECT value FROM json_each(?))",
        messages,
    )
    .await?;
    touched.extend(fetch_ids(connection, "SELECT value FROM json_each(?)", exchanges).await?);
    let recalled = fetch_ids(
        connection,
        "SELECT DISTINCT recall_log.exchange_id FROM messages JOIN recall_log ON recall_log.message_id = messages.id
         WHERE messages.exchange_id IN (SELECT value FROM json_each(?))",
        &list_of(touched.iter().copied()),
    )
    .await?;
    let touched: HashSet<i64> = touched.into_iter().collect();
    let elsewhere = list_of(recalled.into_iter().filter(|exchange| !touched.contains(exchange)));
    let deleted = delete_quotations(connection, &elsewhere).await?;
    let exposed = fetch_ids(
        connection,
        "SELECT id FROM exchanges WHERE id IN (SELECT value FROM json_each(?)) AND assistant_message <> ''",
        &elsewhere,
    )
    .await?;
    Ok((deleted, exposed.into_iter().map(ExchangeId::new).collect()))
}

/// Deletes answers of memory itself that quote some documents.
pub(super) async fn delete_quotations_of_documents(
    connection: &mut SqliteConnection,
    documents: &str,
) -> Result<()> {
    let quoting = fetch_ids(
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
    execute_for(
        connection,
        "UPDATE exchanges SET assistant_message = '', summary = NULL, summary_by = NULL
         WHERE id IN (SELECT value FROM json_each(?))
           AND EXISTS (SELECT 1 FROM messages WHERE exchange_id = exchanges.id AND role = 'assistant' AND derived = 1)",
        exchanges,
    )
    .await?;
    execute_for(
        connection,
        "DELETE FROM messages WHERE role = 'assistant' AND derived = 1
           AND exchange_id IN (SELECT value FROM json_each(?))",
        exchanges,
    )
    .await
}
