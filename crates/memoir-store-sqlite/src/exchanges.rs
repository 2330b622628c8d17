//! SQL for exchanges and their messages.

use async_trait::async_trait;
use memoir_core::{
    ConversationId, ConversationTarget, Exchange, ExchangeDraft, ExchangeId, ExchangeSource, ExchangeStatus,
    Message, MessageBody, MessageId, Provenance, Role, Timestamp, Usd, Visibility,
};
use memoir_store::{CommittedExchange, Exchanges, Result, Span, TranscriptMessage};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    rows::{read_usage, to_json_list, to_signed},
};

impl SqliteStore {
    /// Returns the last `limit` exchanges of a conversation with ids up to `through`.
    async fn latest_exchanges(
        &self,
        conversation: ConversationId,
        through: i64,
        limit: u32,
    ) -> Result<Vec<Exchange>> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        for part in self.lineage(conversation).await? {
            let remaining = u64::from(limit).saturating_sub(exchanges.len() as u64);
            let older = sqlx::query(
                "SELECT * FROM exchanges WHERE conversation_id = ? AND id <= ? ORDER BY id DESC LIMIT ?",
            )
            .bind(part.conversation.get())
            .bind(part.through.min(through))
            .bind(to_signed(remaining))
            .try_map(read_exchange)
            .fetch_all(&self.readers)
            .await
            .or_store_error()?;
            exchanges.extend(older);
        }
        exchanges.reverse();
        Ok(exchanges)
    }
}

#[async_trait]
impl Exchanges for SqliteStore {
    async fn commit_exchange(
        &self,
        target: &ConversationTarget,
        draft: &ExchangeDraft,
    ) -> Result<CommittedExchange> {
        self.commit(target, draft, &[]).await
    }

    async fn exchanges(&self, conversation: ConversationId, limit: u32) -> Result<Vec<Exchange>> {
        self.latest_exchanges(conversation, i64::MAX, limit).await
    }

    async fn exchanges_before(
        &self,
        conversation: ConversationId,
        before: ExchangeId,
        limit: u32,
    ) -> Result<Vec<Exchange>> {
        self.latest_exchanges(conversation, before.get().saturating_sub(1), limit).await
    }

    async fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>> {
        sqlx::query("SELECT * FROM exchanges WHERE id = ?")
            .bind(id.get())
            .try_map(read_exchange)
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }

    async fn exchange_messages(&self, id: ExchangeId) -> Result<Vec<Message>> {
        sqlx::query("SELECT * FROM messages WHERE exchange_id = ? ORDER BY id")
            .bind(id.get())
            .try_map(read_message)
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn message(&self, id: MessageId) -> Result<Option<Message>> {
        sqlx::query("SELECT * FROM messages WHERE id = ?")
            .bind(id.get())
            .try_map(read_message)
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }

    async fn shown_messages(
        &self,
        conversation: ConversationId,
        after: Option<ExchangeId>,
    ) -> Result<Vec<Message>> {
        // Going through the exchanges reads only the new ones. An index by conversation would scan all messages.
        let mut messages = Vec::new();
        for part in self.lineage(conversation).await?.into_iter().rev() {
            let part_messages = sqlx::query(
                "SELECT messages.* FROM exchanges CROSS JOIN messages ON messages.exchange_id = exchanges.id
                 WHERE exchanges.conversation_id = ? AND exchanges.id > ? AND exchanges.id <= ? AND redacted = 0
                 ORDER BY messages.id",
            )
            .bind(part.conversation.get())
            .bind(after.map_or(0, ExchangeId::get))
            .bind(part.through)
            .try_map(read_message)
            .fetch_all(&self.readers)
            .await
            .or_store_error()?;
            messages.extend(part_messages);
        }
        Ok(messages)
    }

    async fn transcript(&self, span: &Span, limit: u32) -> Result<Vec<TranscriptMessage>> {
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
            Ok(TranscriptMessage {
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
        .or_store_error()
    }

    async fn messages(&self, conversation: ConversationId, exchanges: u32) -> Result<Vec<Message>> {
        let mut ids: Vec<i64> = Vec::new();
        for part in self.lineage(conversation).await? {
            let older: Vec<i64> = sqlx::query_scalar(
                "SELECT id FROM exchanges WHERE conversation_id = ? AND id <= ? ORDER BY id DESC LIMIT ?",
            )
            .bind(part.conversation.get())
            .bind(part.through)
            .bind(to_signed(u64::from(exchanges).saturating_sub(ids.len() as u64)))
            .fetch_all(&self.readers)
            .await
            .or_store_error()?;
            ids.extend(older);
        }
        sqlx::query(
            "SELECT * FROM messages WHERE exchange_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        )
        .bind(to_json_list(ids.into_iter()))
        .try_map(read_message)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }
}

fn read_exchange(row: SqliteRow) -> Result<Exchange, sqlx::Error> {
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
        usage: read_usage(&row)?,
        cost: row.try_get::<Option<i64>, _>("cost")?.map(Usd::from_nanos),
        tool_call_count: row.try_get("tool_call_count")?,
        request_count: row.try_get("request_count")?,
        error: row.try_get("error")?,
        source: row
            .try_get::<Option<String>, _>("program")?
            .map(|program| Ok::<_, sqlx::Error>(ExchangeSource { program, session: row.try_get("session")? }))
            .transpose()?,
    })
}

fn read_message(row: SqliteRow) -> Result<Message, sqlx::Error> {
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
        visibility: if row.try_get("redacted")? { Visibility::Hidden } else { Visibility::Shown },
        provenance: if row.try_get("derived")? { Provenance::Derived } else { Provenance::Original },
        by_others: row.try_get("by_others")?,
        tokens: row.try_get("tokens")?,
        created: Timestamp::from_millis(row.try_get("created")?),
    })
}
