//! SQL that deletes answers of the `memoir/recall` model, which quote deleted content verbatim.

use std::collections::HashSet;

use memoir_core::ExchangeId;
use memoir_store::Result;
use sqlx::SqliteConnection;

use super::rows::{execute_for, fetch_ids, to_json_list};

/// Deletes derived answers that quote these exchanges and messages, or that quote others of these conversations together
/// with their titles, which may repeat the content. Returns their number, and the other exchanges whose prompts included
/// the content.
pub(super) async fn delete_quotations_of_content(
    connection: &mut SqliteConnection,
    exchanges: &str,
    messages: &str,
    conversations: &str,
) -> Result<(u64, Vec<ExchangeId>)> {
    // A quotation includes both the prompt and the answer of an exchange.
    let mut quoted = fetch_ids(
        connection,
        "SELECT DISTINCT exchange_id FROM messages WHERE id IN (SELECT value FROM json_each(?))",
        messages,
    )
    .await?;
    quoted.extend(fetch_ids(connection, "SELECT value FROM json_each(?)", exchanges).await?);
    let recalled = fetch_ids(
        connection,
        "SELECT DISTINCT recall_log.exchange_id FROM messages JOIN recall_log ON recall_log.message_id = messages.id
         WHERE messages.exchange_id IN (SELECT value FROM json_each(?))",
        &to_json_list(quoted.iter().copied()),
    )
    .await?;
    let quoted: HashSet<i64> = quoted.into_iter().collect();
    let others = to_json_list(recalled.into_iter().filter(|exchange| !quoted.contains(exchange)));
    let with_title = fetch_ids(
        connection,
        "SELECT DISTINCT recall_log.exchange_id FROM messages JOIN recall_log ON recall_log.message_id = messages.id
         WHERE messages.conversation_id IN (SELECT value FROM json_each(?))",
        conversations,
    )
    .await?;
    let with_title = to_json_list(with_title.into_iter().filter(|exchange| !quoted.contains(exchange)));
    let deleted = delete_quotations(connection, &with_title).await?;
    let exposed = fetch_ids(
        connection,
        "SELECT id FROM exchanges WHERE id IN (SELECT value FROM json_each(?)) AND assistant_message <> ''",
        &others,
    )
    .await?;
    Ok((deleted, exposed.into_iter().map(ExchangeId::new).collect()))
}

/// Deletes derived answers that quote these documents.
pub(super) async fn delete_quotations_of_documents(
    connection: &mut SqliteConnection,
    documents: &str,
) -> Result<()> {
    let exchanges = fetch_ids(
        connection,
        "SELECT DISTINCT recall_log.exchange_id FROM chunks JOIN recall_log ON recall_log.chunk_id = chunks.id
         WHERE chunks.document_id IN (SELECT value FROM json_each(?))",
        documents,
    )
    .await?;
    delete_quotations(connection, &to_json_list(exchanges.into_iter())).await.map(drop)
}

/// Deletes the derived answers of these exchanges, but keeps the prompts. Returns the number of answers.
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
