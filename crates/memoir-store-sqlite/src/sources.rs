//! Where each worker's work is found.
//!
//! Looking for work may take a while in a large memory, and is done by readers; only taking on what was found holds the
//! write lock.

use std::collections::HashSet;

use memoir_core::{ConversationId, SubjectKind, WorkerKind};
use memoir_store::{Claim, Claimed, Embeddings as _, Result};
use sqlx::AssertSqlSafe;

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    job_rows::{LeaseKind, claimed},
    rows::list_of,
};

/// Rows that have something to be done about them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) kind: SubjectKind,
    /// The rows. `?1` is the conversation that is left alone, `?2` the embedding model, `?3` the fewest tokens, `?5` the present
    /// moment.
    rows: &'static str,
    /// The column that is the subject's id.
    id: &'static str,
    /// The newest first.
    order: &'static str,
    /// Whether it is done only when a model summarises.
    by_model: bool,
    /// The column of its conversation, where one that is going on anywhere is left alone.
    talk: Option<&'static str>,
}

impl Source {
    /// The rows, without what belongs to a conversation that is going on.
    fn rows(&self) -> String {
        let Some(conversation) = self.talk else { return self.rows.to_owned() };
        let open = LeaseKind::OpenConversation.as_str();
        format!(
            "{} AND NOT EXISTS (SELECT 1 FROM jobs AS open
                                WHERE open.subject_kind = 'conversation' AND open.subject_id = {conversation}
                                  AND open.worker = '{open}' AND open.leased_till > ?5)",
            self.rows
        )
    }
}

const EXCHANGES: Source = Source {
    kind: SubjectKind::Exchange,
    rows: "exchanges WHERE summary IS NULL AND status = 'completed' AND conversation_id IS NOT ?1",
    id: "exchanges.id",
    order: "completed DESC, id DESC",
    by_model: false,
    talk: Some("exchanges.conversation_id"),
};

const EXTRACTS: Source = Source {
    rows: "exchanges WHERE summary_by = 'extract' AND status = 'completed' AND conversation_id IS NOT ?1",
    by_model: true,
    ..EXCHANGES
};

/// Wanted soon, and most of all in the conversation that is going on.
const DIGESTS: Source = Source {
    kind: SubjectKind::Digest,
    rows: "digests WHERE wanted_through IS NOT NULL",
    id: "digests.conversation_id",
    order: "updated DESC",
    by_model: true,
    talk: None,
};

const CONVERSATIONS: Source = Source {
    kind: SubjectKind::Conversation,
    rows: "conversations WHERE summary_due = 1 AND conversations.id IS NOT ?1",
    id: "conversations.id",
    order: "updated DESC, id DESC",
    by_model: false,
    talk: Some("conversations.id"),
};

const CONVERSATION_EXTRACTS: Source = Source {
    rows: "conversations WHERE summary_by = 'extract' AND summary_due = 0 AND conversations.id IS NOT ?1",
    by_model: true,
    ..CONVERSATIONS
};

const MESSAGES_WITHOUT_VECTOR: Source = Source {
    kind: SubjectKind::Message,
    rows: "messages WHERE redacted = 0 AND derived = 0 AND role <> 'tool' AND tokens >= ?3
           AND NOT EXISTS (SELECT 1 FROM embeddings
                           WHERE model = ?2 AND subject_kind = 'message' AND subject_id = messages.id)",
    id: "messages.id",
    order: "messages.id DESC",
    by_model: false,
    talk: None,
};

const CONVERSATIONS_WITHOUT_VECTOR: Source = Source {
    kind: SubjectKind::Conversation,
    rows: "conversations WHERE summary IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM summary_embeddings
                           WHERE model = ?2 AND subject_kind = 'conversation' AND subject_id = conversations.id)",
    id: "conversations.id",
    order: "conversations.id DESC",
    ..MESSAGES_WITHOUT_VECTOR
};

const EXCHANGES_WITHOUT_VECTOR: Source = Source {
    kind: SubjectKind::Exchange,
    rows: "exchanges WHERE summary IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM summary_embeddings
                           WHERE model = ?2 AND subject_kind = 'exchange' AND subject_id = exchanges.id)",
    id: "exchanges.id",
    order: "exchanges.id DESC",
    ..MESSAGES_WITHOUT_VECTOR
};

/// In the order in which they were added, so that it can be told how far it has come.
const CHUNKS_WITHOUT_VECTOR: Source = Source {
    kind: SubjectKind::Chunk,
    rows: "chunks WHERE NOT EXISTS (SELECT 1 FROM chunk_embeddings
                                    WHERE chunk_id = chunks.id AND model = ?2 AND part = 0)",
    id: "chunks.id",
    order: "chunks.id",
    ..MESSAGES_WITHOUT_VECTOR
};

/// Where a claim is looked for, in this order.
pub(super) fn sources(claim: &Claim<'_>) -> impl Iterator<Item = &'static Source> {
    let all: &'static [Source] = match claim.worker {
        WorkerKind::ExchangeSummarizer => &[EXCHANGES, EXTRACTS],
        WorkerKind::ConversationSummarizer => &[DIGESTS, CONVERSATIONS, CONVERSATION_EXTRACTS],
        WorkerKind::EmbeddingGenerator => &[
            MESSAGES_WITHOUT_VECTOR,
            CONVERSATIONS_WITHOUT_VECTOR,
            EXCHANGES_WITHOUT_VECTOR,
            CHUNKS_WITHOUT_VECTOR,
        ],
    };
    let (with_model, only) = (claim.with_model, claim.only);
    all.iter()
        .filter(move |source| (with_model || !source.by_model) && only.is_none_or(|only| only == source.kind))
}

/// Whether someone may take work on, by its row: nobody is at it, or he himself was when he was interrupted. `?5` is the
/// present moment, `?6` who asks.
const FREE: &str = "known.state = 'waiting' AND known.due <= ?5
    AND (coalesce(known.leased_till, 0) <= ?5 OR known.leased_by = ?6)";

impl SqliteStore {
    /// What could be taken on, newest first.
    pub(super) async fn candidates(
        &self,
        source: &Source,
        claim: &Claim<'_>,
        limit: u32,
    ) -> Result<Vec<i64>> {
        if source.kind == SubjectKind::Message {
            return self.candidate_messages(claim, limit).await;
        }
        let of_summaries = claim.worker == WorkerKind::EmbeddingGenerator;
        if of_summaries && self.unembedded_count(source.kind, &claim.embeddable).await? == 0 {
            // Counting is quick, looking is not.
            return Ok(Vec::new());
        }
        let Source { kind, id, order, .. } = source;
        let rows = source.rows();
        let worker = claim.worker.as_str();
        let kind = kind.as_str();
        sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT {id} FROM {rows}
             AND NOT EXISTS (SELECT 1 FROM jobs AS known
                             WHERE known.subject_kind = '{kind}' AND known.subject_id = {id}
                               AND known.worker = '{worker}' AND NOT ({FREE}))
             ORDER BY {order} LIMIT ?4"
        )))
        .bind(claim.except.map(ConversationId::get))
        .bind(claim.embeddable.model)
        .bind(claim.embeddable.shortest)
        .bind(limit)
        .bind(claim.now.as_millis())
        .bind(claim.owner)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    /// The same for messages, of which there are many: the index knows which have vectors.
    async fn candidate_messages(&self, claim: &Claim<'_>, limit: u32) -> Result<Vec<i64>> {
        let taken: Vec<i64> = sqlx::query_scalar(
            "SELECT subject_id FROM jobs
             WHERE worker = ?1 AND subject_kind = 'message'
               AND NOT (state = 'waiting' AND due <= ?2 AND (coalesce(leased_till, 0) <= ?2 OR leased_by = ?3))",
        )
        .bind(claim.worker.as_str())
        .bind(claim.now.as_millis())
        .bind(claim.owner)
        .fetch_all(&self.readers)
        .await
        .or_store_error()?;
        let taken: HashSet<i64> = taken.into_iter().collect();
        let mut missing = self.messages_without_vector(&claim.embeddable).await?;
        missing.retain(|id| !taken.contains(id));
        missing.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(missing)
    }

    /// Takes on those of `ids` that are still to be done, and free.
    pub(super) async fn take(&self, source: &Source, claim: &Claim<'_>, ids: &[i64]) -> Result<Vec<Claimed>> {
        let Source { kind, id, .. } = source;
        let rows = source.rows();
        let worker = claim.worker.as_str();
        let kind = kind.as_str();
        sqlx::query(AssertSqlSafe(format!(
            "INSERT INTO jobs (worker, subject_kind, subject_id, state, attempts, due, leased_by, leased_till, updated)
             SELECT '{worker}', '{kind}', subject, 'waiting', 0, 0, ?6, ?7, ?5
             FROM (SELECT {id} AS subject FROM {rows} AND {id} IN (SELECT value FROM json_each(?4)))
             LEFT JOIN jobs AS known
                 ON known.subject_kind = '{kind}' AND known.subject_id = subject AND known.worker = '{worker}'
             WHERE known.id IS NULL OR ({FREE})
             ORDER BY subject DESC
             ON CONFLICT (subject_kind, subject_id, worker) DO UPDATE SET
                 leased_by = excluded.leased_by, leased_till = excluded.leased_till, updated = excluded.updated
             RETURNING subject_kind, subject_id, attempts"
        )))
        .bind(claim.except.map(ConversationId::get))
        .bind(claim.embeddable.model)
        .bind(claim.embeddable.shortest)
        .bind(list_of(ids.iter().copied()))
        .bind(claim.now.as_millis())
        .bind(claim.owner)
        .bind(claim.until.as_millis())
        .try_map(claimed)
        .fetch_all(&self.writer)
        .await
        .or_store_error()
    }

    /// How much of a source there is, due or not, failed or not.
    pub(super) async fn count(&self, source: &Source, claim: &Claim<'_>) -> Result<u64> {
        if claim.worker == WorkerKind::EmbeddingGenerator {
            return self.unembedded_count(source.kind, &claim.embeddable).await;
        }
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {}", source.rows())))
            .bind(claim.except.map(ConversationId::get))
            .bind(claim.embeddable.model)
            .bind(claim.embeddable.shortest)
            .bind(0)
            .bind(claim.now.as_millis())
            .fetch_one(&self.readers)
            .await
            .or_store_error()?;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}
