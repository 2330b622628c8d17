//! SQL that commits an exchange.

use memoir_core::{
    ConversationId, ConversationTarget, DraftMessage, ExchangeDraft, ExchangeId, MessageBody,
    NewConversation, Provenance, Usd, Visibility,
};
use memoir_store::{CommittedExchange, NewRedaction, Result, StoreError};
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::{
    SqliteStore,
    costs::insert_cost,
    error::SqlResultExt as _,
    redactions::{Source, insert_redactions},
    rows::to_signed,
};

impl SqliteStore {
    /// Commits an exchange and records its redactions, in one transaction.
    pub(super) async fn commit(
        &self,
        target: &ConversationTarget,
        draft: &ExchangeDraft,
        redactions: &[NewRedaction],
    ) -> Result<CommittedExchange> {
        let mut transaction = self.begin_write().await?;
        let committed = insert_whole_exchange(&mut transaction, target, draft, redactions).await?;
        transaction.commit().await.or_store_error()?;
        Ok(committed)
    }
}

/// Inserts an exchange with its messages, costs and redactions, and its conversation if that is new.
pub(super) async fn insert_whole_exchange(
    connection: &mut SqliteConnection,
    target: &ConversationTarget,
    draft: &ExchangeDraft,
    redactions: &[NewRedaction],
) -> Result<CommittedExchange> {
    let conversation_id = match target {
        ConversationTarget::New(new) => insert_conversation(connection, new, draft).await,
        ConversationTarget::Existing { conversation, last_seen } => {
            check_no_unseen(connection, *conversation, *last_seen).await?;
            touch_conversation(connection, *conversation, draft).await
        }
        ConversationTarget::Replace { conversation, replaced, last_seen } => {
            check_no_unseen(connection, *conversation, *last_seen).await?;
            remove_exchange(connection, *conversation, *replaced).await?;
            touch_conversation(connection, *conversation, draft).await
        }
    }?;
    let exchange_id = insert_exchange(connection, conversation_id, draft).await?;
    insert_redactions(connection, Source::Exchange(exchange_id), redactions, draft.completed).await?;
    for message in &draft.messages {
        insert_message(connection, conversation_id, exchange_id, message).await?;
    }
    for call in &draft.calls {
        insert_cost(connection, Some(conversation_id), Some(exchange_id), call).await?;
    }
    for passage in &draft.recalled.passages {
        let (scores, tokens) = ((passage.score, passage.similarity, passage.coverage), passage.tokens);
        log_recalled(connection, exchange_id, ("message", passage.message_id.get()), scores, tokens).await?;
    }
    for passage in &draft.recalled.documents {
        let (scores, tokens) = ((passage.score, passage.similarity, passage.coverage), passage.tokens);
        log_recalled(connection, exchange_id, ("chunk", passage.chunk_id.get()), scores, tokens).await?;
    }
    Ok(CommittedExchange { conversation_id, exchange_id })
}

async fn insert_conversation(
    connection: &mut SqliteConnection,
    new: &NewConversation,
    draft: &ExchangeDraft,
) -> Result<ConversationId> {
    sqlx::query_scalar(
        "INSERT INTO conversations (title, scope, model, created, updated) VALUES (?, ?, ?, ?, ?) RETURNING id",
    )
    .bind(&new.title)
    .bind(&new.scope)
    .bind(&draft.model)
    .bind(draft.started.as_millis())
    .bind(draft.completed.as_millis())
    .fetch_one(connection)
    .await
    .map(ConversationId::new)
    .or_store_error()
}

/// Fails if the conversation has an exchange newer than `last_seen`. Ids are never reused and only one writer is active
/// at a time, so newer exchanges have larger ids. The last one seen may have been deleted.
async fn check_no_unseen(
    connection: &mut SqliteConnection,
    conversation: ConversationId,
    last_seen: Option<ExchangeId>,
) -> Result<()> {
    let newest: Option<i64> = sqlx::query_scalar("SELECT max(id) FROM exchanges WHERE conversation_id = ?")
        .bind(conversation.get())
        .fetch_one(connection)
        .await
        .or_store_error()?;
    match newest.map(ExchangeId::new) {
        Some(newest) if Some(newest) > last_seen => Err(StoreError::Conflict { conversation, newest }),
        _ => Ok(()),
    }
}

/// Deletes an exchange that is being replaced. Its costs are kept.
async fn remove_exchange(
    connection: &mut SqliteConnection,
    conversation: ConversationId,
    exchange: ExchangeId,
) -> Result<()> {
    sqlx::query("DELETE FROM exchanges WHERE id = ? AND conversation_id = ?")
        .bind(exchange.get())
        .bind(conversation.get())
        .execute(&mut *connection)
        .await
        .or_store_error()?;
    // A summary that covers the exchange is outdated.
    sqlx::query(
        "UPDATE conversations SET summary = NULL, summary_by = NULL, summary_through = NULL, summary_due = 1
         WHERE id = ? AND summary_through >= ?",
    )
    .bind(conversation.get())
    .bind(exchange.get())
    .execute(connection)
    .await
    .or_store_error()?;
    Ok(())
}

async fn touch_conversation(
    connection: &mut SqliteConnection,
    id: ConversationId,
    draft: &ExchangeDraft,
) -> Result<ConversationId> {
    let result = sqlx::query("UPDATE conversations SET model = ?, updated = max(updated, ?) WHERE id = ?")
        .bind(&draft.model)
        .bind(draft.completed.as_millis())
        .bind(id.get())
        .execute(connection)
        .await
        .or_store_error()?;
    match result.rows_affected() {
        0 => Err(StoreError::NotFound { kind: "conversation", id: id.get() }),
        _ => Ok(id),
    }
}

async fn insert_exchange(
    connection: &mut SqliteConnection,
    conversation: ConversationId,
    draft: &ExchangeDraft,
) -> Result<ExchangeId> {
    let usage = draft.usage();
    sqlx::query_scalar(
        "INSERT INTO exchanges
             (conversation_id, status, started, completed, user_message, assistant_message, model,
              input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
              cost, tool_call_count, request_count, error, program, session)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
    )
    .bind(conversation.get())
    .bind(draft.status.as_str())
    .bind(draft.started.as_millis())
    .bind(draft.completed.as_millis())
    .bind(&draft.user_message)
    .bind(&draft.assistant_message)
    .bind(&draft.model)
    .bind(to_signed(usage.input_tokens))
    .bind(to_signed(usage.output_tokens))
    .bind(to_signed(usage.cached_tokens))
    .bind(to_signed(usage.cache_write_tokens))
    .bind(to_signed(usage.reasoning_tokens))
    .bind(draft.cost().map(Usd::as_nanos))
    .bind(to_signed(draft.tool_call_count))
    .bind(to_signed(draft.calls.len() as u64))
    .bind(&draft.error)
    .bind(draft.source.as_ref().map(|source| &source.program))
    .bind(draft.source.as_ref().map(|source| &source.session))
    .fetch_one(connection)
    .await
    .map(ExchangeId::new)
    .or_store_error()
}

async fn insert_message(
    connection: &mut SqliteConnection,
    conversation: ConversationId,
    exchange: ExchangeId,
    message: &DraftMessage,
) -> Result<()> {
    let (call_id, tool_name) = match &message.body {
        MessageBody::Tool { call_id, tool_name, .. } => (Some(call_id), Some(tool_name)),
        MessageBody::User { .. } | MessageBody::Assistant { .. } => (None, None),
    };
    sqlx::query(
        "INSERT INTO messages
             (exchange_id, conversation_id, role, author, content, redacted, derived, by_others,
              tool_calls, tool_call_id, tool_name, tokens, created)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(exchange.get())
    .bind(conversation.get())
    .bind(message.body.role().as_str())
    .bind(&message.author)
    .bind(message.body.text())
    .bind(message.visibility == Visibility::Hidden)
    .bind(message.provenance == Provenance::Derived)
    .bind(message.by_others)
    .bind(encode_tool_calls(&message.body)?)
    .bind(call_id)
    .bind(tool_name)
    .bind(to_signed(message.tokens))
    .bind(message.created.as_millis())
    .execute(connection)
    .await
    .or_store_error()?;
    Ok(())
}

/// Returns the tool calls of a message as JSON, if it has any.
fn encode_tool_calls(body: &MessageBody) -> Result<Option<String>> {
    match body {
        MessageBody::Assistant { tool_calls, .. } if !tool_calls.is_empty() => {
            serde_json::to_string(tool_calls).map(Some).map_err(|error| StoreError::Other(error.into()))
        }
        _ => Ok(None),
    }
}

impl SqliteStore {
    /// Replaces the texts of a stored exchange with those of `draft`, which has the same messages, and the record of its
    /// redactions.
    pub(super) async fn rewrite_texts(
        &self,
        id: ExchangeId,
        draft: &ExchangeDraft,
        redactions: &[NewRedaction],
    ) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        sqlx::query("UPDATE exchanges SET user_message = ?, assistant_message = ?, error = ? WHERE id = ?")
            .bind(&draft.user_message)
            .bind(&draft.assistant_message)
            .bind(&draft.error)
            .bind(id.get())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        let messages: Vec<i64> =
            sqlx::query_scalar("SELECT id FROM messages WHERE exchange_id = ? ORDER BY id")
                .bind(id.get())
                .fetch_all(&mut *transaction)
                .await
                .or_store_error()?;
        if messages.len() != draft.messages.len() {
            // Some of the messages were forgotten.
            return Err(StoreError::NotFound { kind: "exchange", id: id.get() });
        }
        for (message_id, message) in messages.into_iter().zip(&draft.messages) {
            let tool_calls = encode_tool_calls(&message.body)?;
            sqlx::query("UPDATE messages SET content = ?1 WHERE id = ?2 AND content <> ?1")
                .bind(message.body.text())
                .bind(message_id)
                .execute(&mut *transaction)
                .await
                .or_store_error()?;
            sqlx::query("UPDATE messages SET tool_calls = ?1 WHERE id = ?2 AND tool_calls <> ?1")
                .bind(tool_calls)
                .bind(message_id)
                .execute(&mut *transaction)
                .await
                .or_store_error()?;
        }
        sqlx::query("DELETE FROM redactions WHERE exchange_id = ?")
            .bind(id.get())
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        insert_redactions(&mut transaction, Source::Exchange(id), redactions, draft.completed).await?;
        transaction.commit().await.or_store_error()
    }
}

async fn log_recalled(
    connection: &mut SqliteConnection,
    exchange: ExchangeId,
    (kind, id): (&'static str, i64),
    (score, similarity, coverage): (f64, f64, f64),
    tokens: u64,
) -> Result<()> {
    // Nothing is logged if the source has been deleted since.
    sqlx::query(AssertSqlSafe(format!(
        "INSERT INTO recall_log (exchange_id, {kind}_id, score, reason, tokens)
         SELECT ?1, id, ?2, ?3, ?4 FROM {kind}s WHERE id = ?5"
    )))
    .bind(exchange.get())
    .bind(score)
    .bind(format!("similarity {similarity:.2}, words {coverage:.2}"))
    .bind(to_signed(tokens))
    .bind(id)
    .execute(connection)
    .await
    .or_store_error()?;
    Ok(())
}
