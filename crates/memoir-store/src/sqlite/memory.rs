//! SQL of what recall works on.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use futures::future::try_join_all;
use memoir_core::{ConversationId, ExchangeId, MessageId};
use sqlx::{AssertSqlSafe, Row as _, sqlite::SqliteRow};
use tokio::sync::RwLockReadGuard;

use super::{
    SqliteStore,
    error::store_error,
    index::{self, Allowed, Index, Which},
    rows::list_of,
};
use crate::{
    ExchangeText, Filter, IndexMode, Match, Memory, MessageOutline, NewEmbedding, Result, Unembedded,
    VectorSearch, WordSearch, WordsFound,
};

/// So many more candidates than are wanted are looked at exactly, at least: estimates are coarse.
const MORE: usize = 200;

#[async_trait]
impl Memory for SqliteStore {
    async fn unembedded(&self, model: &str, shortest: u32, limit: u32) -> Result<Vec<Unembedded>> {
        sqlx::query(
            "SELECT id, conversation_id, author, content FROM messages
             WHERE redacted = 0 AND derived = 0 AND role <> 'tool' AND tokens >= ?1
               AND NOT EXISTS (SELECT 1 FROM embeddings
                               WHERE model = ?2 AND subject_kind = 'message' AND subject_id = messages.id)
             ORDER BY id DESC LIMIT ?3",
        )
        .bind(shortest)
        .bind(model)
        .bind(limit)
        .try_map(unembedded)
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn unembedded_of(
        &self,
        exchange: ExchangeId,
        model: &str,
        shortest: u32,
    ) -> Result<Vec<Unembedded>> {
        sqlx::query(
            "SELECT id, conversation_id, author, content FROM messages
             WHERE exchange_id = ?1 AND redacted = 0 AND derived = 0 AND role <> 'tool' AND tokens >= ?2
               AND NOT EXISTS (SELECT 1 FROM embeddings
                               WHERE model = ?3 AND subject_kind = 'message' AND subject_id = messages.id)
             ORDER BY id",
        )
        .bind(exchange.get())
        .bind(shortest)
        .bind(model)
        .try_map(unembedded)
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn put_embeddings(&self, model: &str, embeddings: &[NewEmbedding]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for embedding in embeddings {
            // A message may have been deleted while it was embedded: then there is nothing to keep.
            sqlx::query(
                "INSERT INTO embeddings (subject_kind, subject_id, conversation_id, model, dimensions, vector)
                 SELECT 'message', id, conversation_id, ?1, ?2, ?3 FROM messages WHERE id = ?4
                 ON CONFLICT DO NOTHING",
            )
            .bind(model)
            .bind(i64::try_from(embedding.vector.len()).unwrap_or(i64::MAX))
            .bind(index::bytes(&embedding.vector))
            .bind(embedding.message_id.get())
            .execute(&mut *transaction)
            .await
            .map_err(store_error)?;
        }
        transaction.commit().await.map_err(store_error)
    }

    async fn unembedded_count(&self, model: &str, shortest: u32) -> Result<u64> {
        let count: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM messages
             WHERE redacted = 0 AND derived = 0 AND role <> 'tool' AND tokens >= ?1
               AND NOT EXISTS (SELECT 1 FROM embeddings
                               WHERE model = ?2 AND subject_kind = 'message' AND subject_id = messages.id)",
        )
        .bind(shortest)
        .bind(model)
        .fetch_one(&self.readers)
        .await
        .map_err(store_error)?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    async fn nearest(&self, search: &VectorSearch<'_>) -> Result<Vec<Match>> {
        let VectorSearch { model, vector, filter, mode, limit } = *search;
        let in_scope = self.conversations_of(filter).await?;
        let index = self.index(Some(Which { model, dimensions: vector.len() })).await?;
        let allowed = Allowed { filter, in_scope: in_scope.as_deref() };
        let wanted = limit + MORE.max(limit / 2);
        let ids = index.nearest(vector, allowed, mode, &self.graphs, wanted);
        self.build_graph(&index, mode);
        drop(index);
        let mut matches = sqlx::query(AssertSqlSafe(format!(
            "SELECT subject_id, conversation_id, vector FROM embeddings WHERE id IN ({})",
            list_of(&ids)
        )))
        .persistent(false)
        .try_map(|row: SqliteRow| {
            Ok(Match {
                message_id: MessageId::new(row.try_get("subject_id")?),
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                score: index::cosine(vector, row.try_get("vector")?),
            })
        })
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)?;
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.message_id.cmp(&a.message_id)));
        matches.truncate(limit);
        Ok(matches)
    }

    async fn estimated_similarities(
        &self,
        model: &str,
        vector: &[f32],
        conversations: &[ConversationId],
    ) -> Result<Vec<Match>> {
        let index = self.index(Some(Which { model, dimensions: vector.len() })).await?;
        Ok(index.estimates(vector, conversations))
    }

    async fn vectors(&self, model: &str, messages: &[MessageId]) -> Result<Vec<(MessageId, Vec<f32>)>> {
        let ids: Vec<i64> = messages.iter().map(|id| id.get()).collect();
        sqlx::query(AssertSqlSafe(format!(
            "SELECT subject_id, vector FROM embeddings
             WHERE model = ? AND subject_kind = 'message' AND subject_id IN ({})",
            list_of(&ids)
        )))
        .persistent(false)
        .bind(model)
        .try_map(|row: SqliteRow| {
            Ok((MessageId::new(row.try_get("subject_id")?), index::numbers(row.try_get("vector")?)))
        })
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn search_words(&self, search: &WordSearch<'_>) -> Result<WordsFound> {
        let WordSearch { words, filter, conversations, also } = *search;
        let in_scope = self.conversations_of(filter).await?;
        let found = try_join_all(words.iter().map(|word| self.messages_with(word))).await?;
        let index = self.index(None).await?;
        let allowed = Allowed { filter, in_scope: in_scope.as_deref() };
        Ok(index.match_words(&found, allowed, conversations, also))
    }

    async fn outlines(&self, conversations: &[ConversationId]) -> Result<Vec<MessageOutline>> {
        Ok(self.index(None).await?.outlines(conversations))
    }

    async fn exchange_texts(&self, exchanges: &[ExchangeId]) -> Result<Vec<ExchangeText>> {
        let ids: Vec<i64> = exchanges.iter().map(|id| id.get()).collect();
        sqlx::query(AssertSqlSafe(format!(
            "SELECT id, user_message,
                    -- An answer that quotes memory is not quoted again.
                    iif(EXISTS (SELECT 1 FROM messages
                                WHERE exchange_id = exchanges.id AND role = 'assistant' AND derived = 1),
                        '', assistant_message) AS assistant_message
             FROM exchanges WHERE id IN ({})",
            list_of(&ids)
        )))
        .persistent(false)
        .try_map(|row: SqliteRow| {
            Ok(ExchangeText {
                id: ExchangeId::new(row.try_get("id")?),
                user: row.try_get("user_message")?,
                assistant: row.try_get("assistant_message")?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn texts(&self, messages: &[MessageId]) -> Result<Vec<(MessageId, String)>> {
        let ids: Vec<i64> = messages.iter().map(|id| id.get()).collect();
        sqlx::query(AssertSqlSafe(format!(
            "SELECT id, content FROM messages WHERE id IN ({})",
            list_of(&ids)
        )))
        .persistent(false)
        .try_map(|row: SqliteRow| Ok((MessageId::new(row.try_get("id")?), row.try_get("content")?)))
        .fetch_all(&self.readers)
        .await
        .map_err(store_error)
    }

    async fn authors(&self) -> Result<Vec<String>> {
        Ok(self.index(None).await?.names())
    }
}

impl SqliteStore {
    /// The index, brought up to date.
    async fn index(&self, which: Option<Which<'_>>) -> Result<RwLockReadGuard<'_, Index>> {
        let mut index = self.index.write().await;
        index.refresh(&self.readers, which).await?;
        if index.is_worth_packing() {
            self.pack();
        }
        Ok(index.downgrade())
    }

    /// Packs what is worth it, in the background, a segment at a time.
    fn pack(&self) {
        if self.packing.swap(true, Ordering::SeqCst) {
            return;
        }
        let store = self.clone();
        self.spawn(async move {
            // Closing the store ends this.
            while store.packing.load(Ordering::SeqCst) {
                let Some(segment) = store.index.write().await.take_segment() else { break };
                // Not packed, rows are read one by one the next time.
                let Ok(transaction) = store.begin_write().await else { break };
                if index::write(transaction, &segment).await.is_err() {
                    break;
                }
            }
            store.packing.store(false, Ordering::SeqCst);
        });
    }

    /// Builds a graph in the background, when one is wanted and missing.
    fn build_graph(&self, index: &Index, mode: IndexMode) {
        if let Some(plan) = self.graphs.plan(index, mode) {
            let store = self.clone();
            self.spawn(async move { store.graphs.make(plan, &store.readers, &store.graph_file).await });
        }
    }

    /// The conversations of the project that a filter names.
    async fn conversations_of(&self, filter: &Filter) -> Result<Option<Vec<i64>>> {
        let Some(scope) = &filter.scope else { return Ok(None) };
        sqlx::query_scalar("SELECT id FROM conversations WHERE scope = ?")
            .bind(scope)
            .fetch_all(&self.readers)
            .await
            .map(Some)
            .map_err(store_error)
    }

    /// The ids of the messages that have a word, each as often as it has it. As one text: a row each would cost ten
    /// times as much.
    async fn messages_with(&self, word: &str) -> Result<String> {
        let mut ids = String::new();
        for stem in self.stems.of(word).await? {
            let found: Option<String> =
                sqlx::query_scalar("SELECT group_concat(doc, ' ') FROM _message_words WHERE term = ?")
                    .bind(stem)
                    .fetch_one(&self.readers)
                    .await
                    .map_err(store_error)?;
            ids.push_str(found.as_deref().unwrap_or_default());
            ids.push(' ');
        }
        Ok(ids)
    }
}

fn unembedded(row: SqliteRow) -> Result<Unembedded, sqlx::Error> {
    Ok(Unembedded {
        message_id: MessageId::new(row.try_get("id")?),
        conversation_id: ConversationId::new(row.try_get("conversation_id")?),
        author: row.try_get("author")?,
        text: row.try_get("content")?,
    })
}
