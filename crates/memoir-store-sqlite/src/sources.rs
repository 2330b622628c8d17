//! Finds the jobs of each worker.
//!
//! Searching a large database for jobs may take a while, so readers do it. Only leasing the jobs found needs the write
//! lock.

use std::collections::HashSet;

use memoir_core::{ConversationId, SubjectKind, WorkerKind};
use memoir_store::{Claim, ClaimedJob, Embeddings as _, Result};
use sqlx::AssertSqlSafe;

use super::{
    SqliteStore,
    error::SqlResultExt as _,
    job_rows::{LeaseKind, read_claimed},
    rows::to_json_list,
};

/// A set of rows that need processing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) kind: SubjectKind,
    /// Table and condition. `?1` is the excluded conversation, `?2` the embedding model, `?3` the minimum number of
    /// tokens, `?5` the current time.
    rows: &'static str,
    /// Column of the subject's id.
    id: &'static str,
    /// Order in which jobs are claimed.
    order: &'static str,
    /// Whether the jobs require a model that writes summaries.
    needs_model: bool,
    /// Column of the conversation, if rows of conversations that are open in a session are skipped.
    conversation: Option<&'static str>,
}

impl Source {
    /// Returns the table and condition, without rows of conversations that are open in a session.
    fn rows(&self) -> String {
        let Some(conversation) = self.conversation else { return self.rows.to_owned() };
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
    needs_model: false,
    conversation: Some("exchanges.conversation_id"),
};

const EXTRACTS: Source = Source {
    rows: "exchanges WHERE summary_by = 'extract' AND status = 'completed' AND conversation_id IS NOT ?1",
    needs_model: true,
    ..EXCHANGES
};

/// Open conversations are not skipped, because they need their digests first.
const DIGESTS: Source = Source {
    kind: SubjectKind::Digest,
    rows: "digests WHERE wanted_through IS NOT NULL",
    id: "digests.conversation_id",
    order: "updated DESC",
    needs_model: true,
    conversation: None,
};

const CONVERSATIONS: Source = Source {
    kind: SubjectKind::Conversation,
    rows: "conversations WHERE summary_due = 1 AND conversations.id IS NOT ?1",
    id: "conversations.id",
    order: "updated DESC, id DESC",
    needs_model: false,
    conversation: Some("conversations.id"),
};

const CONVERSATION_EXTRACTS: Source = Source {
    rows: "conversations WHERE summary_by = 'extract' AND summary_due = 0 AND conversations.id IS NOT ?1",
    needs_model: true,
    ..CONVERSATIONS
};

const MESSAGES_WITHOUT_VECTOR: Source = Source {
    kind: SubjectKind::Message,
    rows: "messages WHERE redacted = 0 AND derived = 0 AND role <> 'tool' AND tokens >= ?3
           AND NOT EXISTS (SELECT 1 FROM embeddings
                           WHERE model = ?2 AND subject_kind = 'message' AND subject_id = messages.id)",
    id: "messages.id",
    order: "messages.id DESC",
    needs_model: false,
    conversation: None,
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

/// In the order in which the chunks were added, so that progress can be reported.
const CHUNKS_WITHOUT_VECTOR: Source = Source {
    kind: SubjectKind::Chunk,
    rows: "chunks WHERE NOT EXISTS (SELECT 1 FROM chunk_embeddings
                                    WHERE chunk_id = chunks.id AND model = ?2 AND part = 0)",
    id: "chunks.id",
    order: "chunks.id",
    ..MESSAGES_WITHOUT_VECTOR
};

/// Returns the sources for a claim, in order of priority.
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
    let (with_model, subject_kind) = (claim.with_model, claim.subject_kind);
    all.iter().filter(move |source| {
        (with_model || !source.needs_model)
            && subject_kind.is_none_or(|subject_kind| subject_kind == source.kind)
    })
}

/// Condition under which a recorded job can be claimed: it is not leased, or the claiming owner itself was interrupted.
/// `?5` is the current time, `?6` the owner.
const FREE: &str = "known.state = 'waiting' AND known.due <= ?5
    AND (coalesce(known.leased_till, 0) <= ?5 OR known.leased_by = ?6)";

impl SqliteStore {
    /// Returns the ids of at most `limit` subjects that can be claimed.
    pub(super) async fn candidates(
        &self,
        source: &Source,
        claim: &Claim<'_>,
        limit: u32,
    ) -> Result<Vec<i64>> {
        if source.kind == SubjectKind::Message {
            return self.candidate_messages(claim, limit).await;
        }
        let is_embedding = claim.worker == WorkerKind::EmbeddingGenerator;
        if is_embedding && self.unembedded_count(source.kind, &claim.embeddable).await? == 0 {
            // Counting is much faster than searching.
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
        .bind(claim.excluded_conversation.map(ConversationId::get))
        .bind(claim.embeddable.model)
        .bind(claim.embeddable.min_tokens)
        .bind(limit)
        .bind(claim.now.as_millis())
        .bind(claim.owner)
        .fetch_all(&self.readers)
        .await
        .or_store_error()
    }

    /// Returns the ids of messages that can be claimed. Uses the in-memory index because there may be very many
    /// messages.
    async fn candidate_messages(&self, claim: &Claim<'_>, limit: u32) -> Result<Vec<i64>> {
        let unavailable: Vec<i64> = sqlx::query_scalar(
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
        let unavailable: HashSet<i64> = unavailable.into_iter().collect();
        let mut messages = self.messages_without_vector(&claim.embeddable).await?;
        messages.retain(|id| !unavailable.contains(id));
        messages.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(messages)
    }

    /// Leases those of `ids` that still need processing and are available.
    pub(super) async fn lease(
        &self,
        source: &Source,
        claim: &Claim<'_>,
        ids: &[i64],
    ) -> Result<Vec<ClaimedJob>> {
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
        .bind(claim.excluded_conversation.map(ConversationId::get))
        .bind(claim.embeddable.model)
        .bind(claim.embeddable.min_tokens)
        .bind(to_json_list(ids.iter().copied()))
        .bind(claim.now.as_millis())
        .bind(claim.owner)
        .bind(claim.until.as_millis())
        .try_map(read_claimed)
        .fetch_all(self.writer().await?)
        .await
        .or_store_error()
    }

    /// Returns the number of rows in a source, including jobs that are not due or have failed.
    pub(super) async fn count(&self, source: &Source, claim: &Claim<'_>) -> Result<u64> {
        if claim.worker == WorkerKind::EmbeddingGenerator {
            return self.unembedded_count(source.kind, &claim.embeddable).await;
        }
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {}", source.rows())))
            .bind(claim.excluded_conversation.map(ConversationId::get))
            .bind(claim.embeddable.model)
            .bind(claim.embeddable.min_tokens)
            .bind(0)
            .bind(claim.now.as_millis())
            .fetch_one(&self.readers)
            .await
            .or_store_error()?;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}
