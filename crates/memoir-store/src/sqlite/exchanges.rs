//! SQL of exchanges and their messages.

use async_trait::async_trait;
use memoir_core::{
    ConversationId, ConversationTarget, DraftMessage, Exchange, ExchangeDraft, ExchangeId, ExchangeStatus,
    Message, MessageBody, MessageId, NewConversation, Provenance, Role, Timestamp, Usd, Visibility,
};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    SqliteStore, clean,
    costs::insert_cost,
    error::store_error,
    rows::{list_of, signed, usage},
};
use crate::{Committed, Exchanges, Result, Said, Span, StoreError};

#[async_trait]
impl Exchanges for SqliteStore {
    async fn commit_exchange(&self, target: &ConversationTarget, draft: &ExchangeDraft) -> Result<Committed> {
        // The lock is held for a moment only: what takes time comes before it.
        let clean = clean::exchange(target, draft);
        let mut transaction = self.begin_write().await?;
        let filed = file_exchange(&mut transaction, clean).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(filed)
    }

    async fn exchanges(&self, conversation: ConversationId, limit: u32) -> Result<Vec<Exchange>> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        for part in self.lineage(conversation).await? {
            let wanted = u64::from(limit).saturating_sub(exchanges.len() as u64);
            let older = sqlx::query(
                "SELECT * FROM exchanges WHERE conversation_id = ? AND id <= ? ORDER BY id DESC LIMIT ?",
            )
            .bind(part.conversation.get())
            .bind(part.through)
            .bind(signed(wanted))
            .try_map(exchange)
            .fetch_all(&self.readers)
            .await
            .map_err(store_error)?;
            exchanges.extend(older);
        }
        exchanges.reverse();
        Ok(exchanges)
    }

    async fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>> {
        sqlx::query("SELECT * FROM exchanges WHERE id = ?")
            .bind(id.get())
            .try_map(exchange)
            .fetch_optional(&self.readers)
            .await
            .map_err(store_error)
    }

    async fn exchange_messages(&self, id: ExchangeId) -> Result<Vec<Message>> {
        sqlx::query("SELECT * FROM messages WHERE exchange_id = ? ORDER BY id")
            .bind(id.get())
            .try_map(message)
            .fetch_all(&self.readers)
            .await
            .map_err(store_error)
    }

    async fn shown_messages(
        &self,
        conversation: ConversationId,
        after: Option<ExchangeId>,
    ) -> Result<Vec<Message>> {
        // By exchange, of which the newest are read: a conversation's own index would have every message looked at.
        let mut messages = Vec::new();
        for part in self.lineage(conversation).await?.into_iter().rev() {
            let further = sqlx::query(
                "SELECT messages.* FROM exchanges CROSS JOIN messages ON messages.exchange_id = exchanges.id
                 WHERE exchanges.conversation_id = ? AND exchanges.id > ? AND exchanges.id <= ? AND redacted = 0
                 ORDER BY messages.id",
            )
            .bind(part.conversation.get())
            .bind(after.map_or(0, ExchangeId::get))
            .bind(part.through)
            .try_map(message)
            .fetch_all(&self.readers)
            .await
            .map_err(store_error)?;
            messages.extend(further);
        }
        Ok(messages)
    }

    async fn said(&self, span: &Span, limit: u32) -> Result<Vec<Said>> {
        sqlx::query(
            "SELECT messages.conversation_id, role, author, created, content FROM exchanges
             CROSS JOIN messages ON messages.exchange_id = exchanges.id
             WHERE (?1 IS NULL OR exchanges.conversation_id = ?1)
               AND redacted = 0 AND derived = 0 AND role <> 'tool'
               AND created >= coalesce(?2, created) AND created < coalesce(?3, created + 1)
             ORDER BY created, messages.id LIMIT ?4",
        )
        .bind(span.conversation.map(ConversationId::get))
        .bind(span.since.map(Timestamp::as_millis))
        .bind(span.until.map(Timestamp::as_millis))
        .bind(limit)
        .try_map(|row: SqliteRow| {
            Ok(Said {
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                role: match row.try_get("role")? {
                    "user" => Role::User,
                    _ => Role::Assistant,
                },
                author: row.try_get("author")?,
                created: Timestamp::from_millis(row.try_get("created")?),
                text: row.try_get("content")?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn messages(&self, conversation: ConversationId, exchanges: u32) -> Result<Vec<Message>> {
        let mut ids: Vec<i64> = Vec::new();
        for part in self.lineage(conversation).await? {
            let older: Vec<i64> = sqlx::query_scalar(
                "SELECT id FROM exchanges WHERE conversation_id = ? AND id <= ? ORDER BY id DESC LIMIT ?",
            )
            .bind(part.conversation.get())
            .bind(part.through)
            .bind(signed(u64::from(exchanges).saturating_sub(ids.len() as u64)))
            .fetch_all(&self.readers)
            .await
            .map_err(store_error)?;
            ids.extend(older);
        }
        sqlx::query(
            "SELECT * FROM messages WHERE exchange_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        )
        .bind(list_of(ids.into_iter()))
        .try_map(message)
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }
}

/// Files an exchange without its secrets: messages, costs and, if that is new, its conversation.
pub(super) async fn file_exchange(
    connection: &mut SqliteConnection,
    (target, draft, findings): (ConversationTarget, ExchangeDraft, clean::Findings),
) -> Result<Committed> {
    let conversation_id = match &target {
        ConversationTarget::New(new) => insert_conversation(connection, new, &draft).await,
        ConversationTarget::Existing { conversation, last_seen } => {
            refuse_unseen(connection, *conversation, *last_seen).await?;
            touch_conversation(connection, *conversation, &draft).await
        }
        ConversationTarget::InPlaceOf { conversation, replaced, last_seen } => {
            refuse_unseen(connection, *conversation, *last_seen).await?;
            remove_exchange(connection, *conversation, *replaced).await?;
            touch_conversation(connection, *conversation, &draft).await
        }
    }?;
    let exchange_id = insert_exchange(connection, conversation_id, &draft).await?;
    findings.note(connection, clean::Source::Exchange(exchange_id), draft.completed).await?;
    for message in &draft.messages {
        insert_message(connection, conversation_id, exchange_id, message).await?;
    }
    for call in &draft.calls {
        insert_cost(connection, Some(conversation_id), Some(exchange_id), call).await?;
    }
    for passage in &draft.recalled.passages {
        let (why, tokens) = ((passage.score, passage.similarity, passage.coverage), passage.tokens);
        log_recalled(connection, exchange_id, ("message", passage.message_id.get()), why, tokens).await?;
    }
    for passage in &draft.recalled.documents {
        let (why, tokens) = ((passage.score, passage.similarity, passage.coverage), passage.tokens);
        log_recalled(connection, exchange_id, ("chunk", passage.chunk_id.get()), why, tokens).await?;
    }
    Ok(Committed { conversation_id, exchange_id })
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
    .map_err(store_error)
}

/// Fails if the conversation has an exchange that is newer than `last_seen`. Ids are never reused and writers take turns, so a
/// newer exchange has a larger id; the one last seen may have been deleted meanwhile.
async fn refuse_unseen(
    connection: &mut SqliteConnection,
    conversation: ConversationId,
    last_seen: Option<ExchangeId>,
) -> Result<()> {
    let newest: Option<i64> = sqlx::query_scalar("SELECT max(id) FROM exchanges WHERE conversation_id = ?")
        .bind(conversation.get())
        .fetch_one(connection)
        .await
        .map_err(store_error)?;
    match newest.map(ExchangeId::new) {
        Some(newest) if Some(newest) > last_seen => Err(StoreError::Conflict { conversation, newest }),
        _ => Ok(()),
    }
}

/// Takes out an exchange that another replaces; what was paid for it stays on the bill.
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
        .map_err(store_error)?;
    // A summary that told of it does not hold any more.
    sqlx::query(
        "UPDATE conversations SET summary = NULL, summary_by = NULL, summary_through = NULL, summary_due = 1
         WHERE id = ? AND summary_through >= ?",
    )
    .bind(conversation.get())
    .bind(exchange.get())
    .execute(connection)
    .await
    .map_err(store_error)?;
    Ok(())
}

async fn touch_conversation(
    connection: &mut SqliteConnection,
    id: ConversationId,
    draft: &ExchangeDraft,
) -> Result<ConversationId> {
    let touched = sqlx::query("UPDATE conversations SET model = ?, updated = max(updated, ?) WHERE id = ?")
        .bind(&draft.model)
        .bind(draft.completed.as_millis())
        .bind(id.get())
        .execute(connection)
        .await
        .map_err(store_error)?;
    match touched.rows_affected() {
        0 => Err(StoreError::NotFound { what: "conversation", id: id.get() }),
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
              cost, tool_call_count, request_count, error)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
    )
    .bind(conversation.get())
    .bind(draft.status.as_str())
    .bind(draft.started.as_millis())
    .bind(draft.completed.as_millis())
    .bind(&draft.user_message)
    .bind(&draft.assistant_message)
    .bind(&draft.model)
    .bind(signed(usage.input_tokens))
    .bind(signed(usage.output_tokens))
    .bind(signed(usage.cached_tokens))
    .bind(signed(usage.cache_write_tokens))
    .bind(signed(usage.reasoning_tokens))
    .bind(draft.cost().map(Usd::as_nanos))
    .bind(signed(draft.tool_call_count))
    .bind(signed(draft.calls.len() as u64))
    .bind(&draft.error)
    .fetch_one(connection)
    .await
    .map(ExchangeId::new)
    .map_err(store_error)
}

async fn insert_message(
    connection: &mut SqliteConnection,
    conversation: ConversationId,
    exchange: ExchangeId,
    message: &DraftMessage,
) -> Result<()> {
    let (mut tool_calls, mut call_id, mut tool_name) = (None, None, None);
    match &message.body {
        MessageBody::User { .. } => {}
        MessageBody::Assistant { tool_calls: calls, .. } if calls.is_empty() => {}
        MessageBody::Assistant { tool_calls: calls, .. } => {
            tool_calls = Some(serde_json::to_string(calls).map_err(|error| StoreError::Other(error.into()))?);
        }
        MessageBody::Tool { call_id: id, tool_name: name, .. } => {
            (call_id, tool_name) = (Some(id), Some(name));
        }
    }
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
    .bind(message.visibility == Visibility::Redacted)
    .bind(message.provenance == Provenance::Derived)
    .bind(message.by_others)
    .bind(tool_calls)
    .bind(call_id)
    .bind(tool_name)
    .bind(signed(message.tokens))
    .bind(message.created.as_millis())
    .execute(connection)
    .await
    .map_err(store_error)?;
    Ok(())
}

async fn log_recalled(
    connection: &mut SqliteConnection,
    exchange: ExchangeId,
    (kind, id): (&'static str, i64),
    (score, similarity, coverage): (f64, f64, f64),
    tokens: u64,
) -> Result<()> {
    // What was forgotten in the meantime is not logged either.
    sqlx::query(AssertSqlSafe(format!(
        "INSERT INTO recall_log (exchange_id, {kind}_id, score, reason, tokens)
         SELECT ?1, id, ?2, ?3, ?4 FROM {kind}s WHERE id = ?5"
    )))
    .bind(exchange.get())
    .bind(score)
    .bind(format!("similarity {similarity:.2}, words {coverage:.2}"))
    .bind(signed(tokens))
    .bind(id)
    .execute(connection)
    .await
    .map_err(store_error)?;
    Ok(())
}

fn exchange(row: SqliteRow) -> Result<Exchange, sqlx::Error> {
    Ok(Exchange {
        id: ExchangeId::new(row.try_get("id")?),
        conversation_id: ConversationId::new(row.try_get("conversation_id")?),
        status: match row.try_get("status")? {
            "stopped" => ExchangeStatus::Stopped,
            _ => ExchangeStatus::Completed,
        },
        started: Timestamp::from_millis(row.try_get("started")?),
        completed: Timestamp::from_millis(row.try_get("completed")?),
        user_message: row.try_get("user_message")?,
        assistant_message: row.try_get("assistant_message")?,
        model: row.try_get("model")?,
        usage: usage(&row)?,
        cost: row.try_get::<Option<i64>, _>("cost")?.map(Usd::from_nanos),
        tool_call_count: row.try_get("tool_call_count")?,
        request_count: row.try_get("request_count")?,
        error: row.try_get("error")?,
    })
}

fn message(row: SqliteRow) -> Result<Message, sqlx::Error> {
    let text: String = row.try_get("content")?;
    let body = match row.try_get("role")? {
        "user" => MessageBody::User { text },
        "tool" => MessageBody::Tool {
            call_id: row.try_get("tool_call_id")?,
            tool_name: row.try_get("tool_name")?,
            text,
        },
        _ => {
            let calls: Option<&str> = row.try_get("tool_calls")?;
            let tool_calls = calls.map_or_else(|| Ok(Vec::new()), serde_json::from_str);
            let tool_calls = tool_calls.map_err(|error| sqlx::Error::Decode(error.into()))?;
            MessageBody::Assistant { text, tool_calls }
        }
    };
    Ok(Message {
        id: MessageId::new(row.try_get("id")?),
        exchange_id: ExchangeId::new(row.try_get("exchange_id")?),
        conversation_id: ConversationId::new(row.try_get("conversation_id")?),
        author: row.try_get("author")?,
        body,
        visibility: if row.try_get("redacted")? { Visibility::Redacted } else { Visibility::Shown },
        provenance: if row.try_get("derived")? { Provenance::Derived } else { Provenance::Said },
        by_others: row.try_get("by_others")?,
        tokens: row.try_get("tokens")?,
        created: Timestamp::from_millis(row.try_get("created")?),
    })
}
