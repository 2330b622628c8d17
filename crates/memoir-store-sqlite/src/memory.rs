//! SQL of what recall works on.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use futures::future::try_join_all;
use memoir_core::{ConversationId, ExchangeId, MessageId};
use memoir_index::doubt;
use memoir_store::{
    Accuracy, ExchangeText, Filter, Match, Memory, MessageOutline, Result, SummaryMatch, VectorSearch,
    WordSearch, WordsFound,
};
use sqlx::{Row as _, sqlite::SqliteRow};
use tokio::sync::RwLockReadGuard;

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    index::{self, Allowed, Index, Near, Segment, Which},
    job_rows::subject,
    rows::list_of,
};

/// So many more candidates than are wanted are measured first; which of the others might do better is known then.
const MORE_AT_FIRST: usize = 100;

/// So many segments are written in one go: a sync for each would take longer than all of them.
const SEGMENTS_AT_ONCE: usize = 32;

/// After how many searches it is worth reading few vectors into memory.
const SEARCHES: u32 = 3;

#[async_trait]
impl Memory for SqliteStore {
    async fn nearest(&self, search: &VectorSearch<'_>) -> Result<Vec<Match>> {
        let VectorSearch { model, vector, filter, effort, limit } = *search;
        if vector.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let in_scope = self.conversations_of(filter).await?;
        let index = self.index(Some(Which { model, dimensions: vector.len() })).await?;
        let allowed = Allowed { filter, in_scope: in_scope.as_deref() };
        let candidates = index.nearest(vector, allowed, effort.accuracy, &self.graphs, limit);
        self.build_graph(&index, effort.accuracy);
        self.hold_vectors(&index);
        drop(index);
        let (first, others) = candidates.split_at(candidates.len().min(limit + MORE_AT_FIRST));
        let mut matches = best(self.measure(first, vector).await?, limit);
        let last = matches.last().filter(|_| matches.len() == limit);
        let least = last.map_or(f64::MIN, |last| last.score - doubt(last.score, vector.len()));
        let others = &others[..others.partition_point(|candidate| f64::from(candidate.estimate) > least)];
        if !others.is_empty() {
            matches.extend(self.measure(others, vector).await?);
            matches = best(matches, limit);
        }
        Ok(matches)
    }

    async fn nearest_summaries(&self, search: &VectorSearch<'_>) -> Result<Vec<SummaryMatch>> {
        let VectorSearch { model, vector, filter, limit, .. } = *search;
        if vector.is_empty() {
            return Ok(Vec::new());
        }
        let in_scope = self.conversations_of(filter).await?;
        let index = self.index(Some(Which { model, dimensions: vector.len() })).await?;
        let ids = index.nearest_summaries(vector, Allowed { filter, in_scope: in_scope.as_deref() }, limit);
        drop(index);
        let mut matches = sqlx::query(
            "SELECT subject_kind, subject_id, conversation_id, vector FROM json_each(?) AS wanted
             CROSS JOIN summary_embeddings ON summary_embeddings.id = wanted.value",
        )
        .bind(list_of(ids.into_iter()))
        .try_map(|row: SqliteRow| {
            Ok(SummaryMatch {
                subject: subject(&row)?,
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                score: index::cosine(vector, row.try_get("vector")?),
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.subject.cmp(&a.subject)));
        matches.truncate(limit);
        Ok(matches)
    }

    async fn similarities(
        &self,
        model: &str,
        vector: &[f32],
        conversations: &[ConversationId],
    ) -> Result<Vec<Match>> {
        if vector.is_empty() {
            return Ok(Vec::new());
        }
        let index = self.index(Some(Which { model, dimensions: vector.len() })).await?;
        Ok(index.estimates(vector, conversations))
    }

    async fn vectors(&self, model: &str, messages: &[MessageId]) -> Result<Vec<(MessageId, Vec<f32>)>> {
        sqlx::query(
            "SELECT subject_id, vector FROM json_each(?1) AS wanted CROSS JOIN embeddings
             ON model = ?2 AND subject_kind = 'message' AND subject_id = wanted.value",
        )
        .bind(list_of(messages.iter().map(|id| id.get())))
        .bind(model)
        .try_map(|row: SqliteRow| {
            Ok((MessageId::new(row.try_get("subject_id")?), index::numbers(row.try_get("vector")?)))
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()
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

    async fn committed_before(
        &self,
        exchanges: &[ExchangeId],
        before: ExchangeId,
    ) -> Result<Vec<ExchangeId>> {
        // One writer gives out the ids, in the order of commits.
        Ok(exchanges.iter().copied().filter(|exchange| *exchange < before).collect())
    }

    async fn exchange_texts(&self, exchanges: &[ExchangeId]) -> Result<Vec<ExchangeText>> {
        sqlx::query(
            "SELECT id, user_message,
                    -- An answer that quotes memory is not quoted again.
                    iif(EXISTS (SELECT 1 FROM messages
                                WHERE exchange_id = exchanges.id AND role = 'assistant' AND derived = 1),
                        '', assistant_message) AS assistant_message
             FROM exchanges WHERE id IN (SELECT value FROM json_each(?))",
        )
        .bind(list_of(exchanges.iter().map(|id| id.get())))
        .try_map(|row: SqliteRow| {
            Ok(ExchangeText {
                id: ExchangeId::new(row.try_get("id")?),
                user: row.try_get("user_message")?,
                assistant: row.try_get("assistant_message")?,
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    async fn texts(&self, messages: &[MessageId]) -> Result<Vec<(MessageId, String)>> {
        sqlx::query("SELECT id, content FROM messages WHERE id IN (SELECT value FROM json_each(?))")
            .bind(list_of(messages.iter().map(|id| id.get())))
            .try_map(|row: SqliteRow| Ok((MessageId::new(row.try_get("id")?), row.try_get("content")?)))
            .fetch_all(&self.readers)
            .await
            .or_store_error()
    }

    async fn familiar_words(&self, words: &[String]) -> Result<Vec<bool>> {
        let mut familiar = Vec::with_capacity(words.len());
        for word in words {
            let mut count: i64 = 0;
            for stem in self.stems.find(word).await? {
                count += sqlx::query_scalar::<_, i64>(
                    "SELECT count(*) FROM (SELECT 1 FROM _message_words WHERE term = ? LIMIT 2)",
                )
                .bind(stem)
                .fetch_one(&self.readers)
                .await
                .or_store_error()?;
            }
            familiar.push(count >= 2);
        }
        Ok(familiar)
    }

    async fn authors(&self) -> Result<Vec<String>> {
        Ok(self.index(None).await?.names())
    }
}

impl SqliteStore {
    /// The index, brought up to date.
    pub(super) async fn index(&self, which: Option<Which<'_>>) -> Result<RwLockReadGuard<'_, Index>> {
        let mut index = self.index.write().await;
        index.refresh(&self.readers, which).await?;
        if index.is_worth_packing() {
            self.pack();
        }
        Ok(index.downgrade())
    }

    /// Packs what is worth it, in the background, some segments at a time.
    pub(super) fn pack(&self) {
        if self.packing.swap(true, Ordering::SeqCst) {
            return;
        }
        let store = self.clone();
        self.spawn(async move {
            // Closing the store ends this.
            while store.packing.load(Ordering::SeqCst) {
                let segments = store.take_segments().await;
                if segments.is_empty() {
                    break;
                }
                if let Err(error) = store.put_segments(&segments).await {
                    tracing::debug!(%error, "could not pack the index; rows are read one by one the next time");
                    break;
                }
            }
            store.packing.store(false, Ordering::SeqCst);
        });
    }

    /// The next segments to be written.
    async fn take_segments(&self) -> Vec<Segment> {
        let mut index = self.index.write().await;
        let mut segments: Vec<Segment> =
            std::iter::from_fn(|| index.take_segment()).take(SEGMENTS_AT_ONCE).collect();
        drop(index);
        if segments.is_empty() {
            let mut chunks = self.chunks.write().await;
            segments.extend(std::iter::from_fn(|| chunks.take_segment()).take(SEGMENTS_AT_ONCE));
        }
        segments
    }

    async fn put_segments(&self, segments: &[Segment]) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for segment in segments {
            index::write(&mut transaction, segment).await?;
        }
        transaction.commit().await.or_store_error()
    }

    /// Builds a graph in the background, when one is wanted and missing.
    fn build_graph(&self, index: &Index, accuracy: Accuracy) {
        let Some((coded, deletions)) = index.coded() else { return };
        if let Some(plan) = self.graphs.plan(&coded, accuracy, deletions) {
            let store = self.clone();
            self.spawn(async move { store.graphs.make(plan, &store.readers, &store.graph_file).await });
        }
    }

    /// How near some candidates are, exactly. One connection reads them all: several would wait for each other, since they
    /// share SQLite's memory.
    async fn measure(&self, candidates: &[Near], vector: &[f32]) -> Result<Vec<Match>> {
        // In their order in the file, so that no page is read twice.
        let mut ids: Vec<i64> = candidates.iter().map(|candidate| candidate.embedding).collect();
        ids.sort_unstable();
        sqlx::query(
            "SELECT subject_id, conversation_id, vector FROM json_each(?) AS wanted
             CROSS JOIN embeddings ON embeddings.id = wanted.value",
        )
        .bind(list_of(ids.into_iter()))
        .try_map(|row: SqliteRow| {
            Ok(Match {
                message_id: MessageId::new(row.try_get("subject_id")?),
                conversation_id: ConversationId::new(row.try_get("conversation_id")?),
                score: index::cosine(vector, row.try_get("vector")?),
            })
        })
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    /// Reads few vectors into memory in the background, so that the next search need not read candidates.
    fn hold_vectors(&self, index: &Index) {
        // A program that answers once does not need them.
        let searches = self.searches.fetch_add(1, Ordering::Relaxed);
        if searches < SEARCHES || self.holding.load(Ordering::SeqCst) {
            return;
        }
        let Some(wanted) = index.wanted_in_memory() else { return };
        if self.holding.swap(true, Ordering::SeqCst) {
            return;
        }
        let store = self.clone();
        self.spawn(async move {
            let (model, ids, stop) = (&wanted.model, &wanted.ids, store.graphs.stopping());
            let read =
                index::read_vectors("embeddings", model, ids, wanted.dimensions, &store.readers, stop).await;
            match read {
                Ok(Some(bytes)) => store.index.write().await.hold(&wanted, bytes),
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "could not hold vectors in memory; searches read them from disk")
                }
            }
            store.holding.store(false, Ordering::SeqCst);
        });
    }

    /// The conversations of the project that a filter names.
    async fn conversations_of(&self, filter: &Filter) -> Result<Option<Vec<i64>>> {
        let Some(scope) = &filter.scope else { return Ok(None) };
        sqlx::query_scalar("SELECT id FROM conversations WHERE scope = ?")
            .bind(scope)
            .fetch_all(&self.readers)
            .await
            .map(Some)
            .or_store_error()
    }

    /// The ids of the messages that have a word, each as often as it has it. As one text: a row each would cost ten
    /// times as much.
    async fn messages_with(&self, word: &str) -> Result<String> {
        let mut ids = String::new();
        for stem in self.stems.find(word).await? {
            let found: Option<String> =
                sqlx::query_scalar("SELECT group_concat(doc, ' ') FROM _message_words WHERE term = ?")
                    .bind(stem)
                    .fetch_one(&self.readers)
                    .await
                    .or_store_error()?;
            ids.push_str(found.as_deref().unwrap_or_default());
            ids.push(' ');
        }
        Ok(ids)
    }
}

/// The nearest of some, nearest first; newer ones first among equals.
fn best(mut matches: Vec<Match>, limit: usize) -> Vec<Match> {
    matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.message_id.cmp(&a.message_id)));
    matches.truncate(limit);
    matches
}
