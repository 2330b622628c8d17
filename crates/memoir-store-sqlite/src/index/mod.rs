//! The in-memory search index: the position of every message, and a compact code for every embedding.
//!
//! The index is derived from the database. The first search fills it, and every search updates it first, so that
//! commits of other processes are found. Most of it is read from segments, into which an earlier process packed rows
//! that it had read one by one. A missing, stale or damaged segment costs time but does not affect results.
//!
//! New rows are recognized by their ids, which grow in commit order because SQLite has a single writer. Nothing outside
//! this crate relies on that.

mod block_stats;
mod chunks;
mod columns;
mod filter;
mod graph;
mod messages;
mod segments;
mod summaries;
mod targets;
mod vector_bytes;
mod vectors;
mod words;

use memoir_core::{ConversationId, MessageId, Timestamp};
use memoir_index::{Candidate, QuantizedVectors, RowFilter, Scan, VectorIndex};
use memoir_store::{Accuracy, LATER_PART_DISCOUNT, Match, MessageOutline, Result};
use sqlx::{Connection as _, SqliteConnection, SqlitePool};

use super::error::SqlResultExt as _;
use filter::{Predicate, VectorFilter};
use messages::Messages;
use segments::{Kind, Progress};
use summaries::SummaryIndex;
use targets::{SummaryTarget, VectorTarget};
use vectors::Vectors;

pub(super) use chunks::Chunks;
pub(super) use filter::ScopedFilter;
pub(super) use graph::{CodedVectors, Graphs, read_vectors};
pub(super) use segments::{Segment, write_segment};
pub(super) use vector_bytes::{cosine, decode_vector, encode_vector};

/// Minimum number of candidates to return beyond the limit, because estimates are coarse and may rank a true result
/// lower.
const MIN_EXTRA: usize = 300;

/// One more candidate is returned for each group of this many embeddings, since more of them then have close estimates.
const EMBEDDINGS_PER_EXTRA: usize = 1500;

/// Number of candidates to return beyond the limit for summaries, of which few are requested.
const EXTRA_SUMMARIES: usize = 60;

/// An embedding that may be near the query.
#[derive(Debug)]
pub(super) struct Neighbor {
    pub(super) embedding: i64,
    pub(super) estimate: f32,
}

/// Embeddings to read into memory.
#[derive(Debug)]
pub(super) struct CacheRequest {
    pub(super) model: String,
    pub(super) dimensions: usize,
    pub(super) ids: Vec<i64>,
    deletions: i64,
}

/// The index of messages, their embeddings, and the embeddings of summaries.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// State of the database when the index was last updated.
    state: Option<State>,
    messages: Messages,
    messages_progress: Progress,
    vectors: Option<Vectors>,
    vectors_progress: Progress,
    summaries: Option<SummaryIndex>,
    summaries_progress: Progress,
    /// Number of deleted summary embeddings when the summaries were read.
    summaries_as_of: i64,
}

/// Fingerprint of the database, used to detect writes since the last refresh, including ones made during it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    deletions: i64,
    deleted_summaries: i64,
    last_message: i64,
    last_embedding: i64,
    last_summary: i64,
}

impl State {
    async fn read(connection: &mut SqliteConnection) -> Result<Self> {
        let (deletions, deleted_summaries, last_message, last_embedding, last_summary) = sqlx::query_as(
            "SELECT count, summaries, (SELECT coalesce(max(id), 0) FROM messages),
                    (SELECT coalesce(max(id), 0) FROM embeddings),
                    (SELECT coalesce(max(id), 0) FROM summary_embeddings)
             FROM _deletions",
        )
        .fetch_one(connection)
        .await
        .or_store_error()?;
        Ok(Self { deletions, deleted_summaries, last_message, last_embedding, last_summary })
    }
}

/// An embedding model and the dimension of its embeddings.
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorSpace<'a> {
    pub(super) model: &'a str,
    pub(super) dimensions: usize,
}

impl Index {
    /// Reads the rows written since the last refresh: messages, and the embeddings in `space` if it is given.
    pub(super) async fn refresh(
        &mut self,
        readers: &SqlitePool,
        space: Option<VectorSpace<'_>>,
    ) -> Result<()> {
        let mut connection = readers.acquire().await.or_store_error()?;
        let state = State::read(&mut connection).await?;
        if self.state == Some(state) && space.is_none_or(|space| self.has(space)) {
            return Ok(());
        }
        // Read everything from one snapshot.
        let mut snapshot = connection.begin().await.or_store_error()?;
        let state = State::read(&mut snapshot).await?;
        if self.deletions() != state.deletions {
            *self = Self::default();
        }
        // Deleted summary embeddings drop out when candidates are scored. Too many of them would displace the others.
        let deleted = state.deleted_summaries - self.summaries_as_of;
        let indexed = self.summaries.as_ref().map_or(0, |summaries| summaries.ids.len());
        let tolerated = i64::try_from(EXTRA_SUMMARIES / 2 + indexed / 16).unwrap_or(i64::MAX);
        if self.summaries.is_none() || !(0..=tolerated).contains(&deleted) {
            (self.summaries, self.summaries_progress) = (None, Progress::default());
            self.summaries_as_of = state.deleted_summaries;
        }
        // If reading fails halfway, the next refresh resumes from there.
        self.state = Some(State { last_message: -1, ..state });
        self.read(&mut snapshot, space).await?;
        self.state = Some(state);
        Ok(())
    }

    /// Returns whether the indexed embeddings are those of this model and dimension.
    fn has(&self, space: VectorSpace<'_>) -> bool {
        self.vectors.as_ref().is_some_and(|vectors| {
            vectors.model == space.model && vectors.codes.dimensions() == space.dimensions
        })
    }

    /// Returns the data for a graph and the number of deletions so far.
    pub(super) fn coded_vectors(&self) -> Option<(CodedVectors<'_>, i64)> {
        Some((self.vectors.as_ref()?.coded_vectors(), self.deletions()))
    }

    fn deletions(&self) -> i64 {
        self.state.map_or(0, |state| state.deletions)
    }

    async fn read(
        &mut self,
        connection: &mut SqliteConnection,
        space: Option<VectorSpace<'_>>,
    ) -> Result<()> {
        let kind = Kind { name: "messages", model: "" };
        segments::read(connection, kind, &mut self.messages_progress, &mut self.messages).await?;
        // Embeddings that are already indexed are updated even if the caller needs none.
        let indexed =
            self.vectors.as_ref().map(|vectors| (vectors.model.clone(), vectors.codes.dimensions()));
        let indexed =
            indexed.as_ref().map(|(model, dimensions)| VectorSpace { model, dimensions: *dimensions });
        let Some(VectorSpace { model, dimensions }) = space.or(indexed) else { return Ok(()) };
        if !self.has(VectorSpace { model, dimensions }) {
            self.vectors = Some(Vectors::new(model, dimensions));
            self.vectors_progress = Progress::default();
            self.summaries = None;
        }
        if self.summaries.is_none() {
            self.summaries = Some(SummaryIndex::new(model, dimensions));
            self.summaries_progress = Progress::default();
        }
        if let Some(vectors) = &mut self.vectors {
            let key = vectors.key();
            let mut target = VectorTarget { vectors, messages: &self.messages };
            let kind = Kind { name: "vectors", model: &key };
            segments::read(connection, kind, &mut self.vectors_progress, &mut target).await?;
        }
        if let Some(summaries) = &mut self.summaries {
            let key = summaries.key();
            let mut target = SummaryTarget { summaries, messages: &self.messages };
            let kind = Kind { name: "summaries", model: &key };
            segments::read(connection, kind, &mut self.summaries_progress, &mut target).await?;
        }
        Ok(())
    }

    /// Returns whether there are enough unpacked rows for a segment.
    pub(super) fn is_worth_packing(&self) -> bool {
        segments::next_to_pack(&self.messages_progress).is_some()
            || segments::next_to_pack(&self.vectors_progress).is_some()
            || self.has_summaries_to_pack()
    }

    /// Returns the next segment to write and marks its rows as packed. If writing fails, the rows are read one by one
    /// the next time.
    pub(super) fn take_segment(&mut self) -> Option<Segment> {
        if let Some(rows) = segments::next_to_pack(&self.messages_progress) {
            segments::mark_packed(&mut self.messages_progress, &rows);
            return Some(Segment {
                kind: "messages",
                model: String::new(),
                first_id: first_covered(&self.messages.ids, rows.start),
                last_id: self.messages.ids[rows.end - 1],
                count: rows.len(),
                data: self.messages.pack(rows),
                replaces: std::mem::take(&mut self.messages_progress.damaged),
                deletions: self.deletions(),
            });
        }
        self.take_vector_segment().or_else(|| self.take_summary_segment())
    }

    fn take_vector_segment(&mut self) -> Option<Segment> {
        let vectors = self.vectors.as_ref()?;
        let rows = segments::next_to_pack(&self.vectors_progress)?;
        segments::mark_packed(&mut self.vectors_progress, &rows);
        Some(Segment {
            kind: "vectors",
            model: vectors.key(),
            first_id: first_covered(&vectors.ids, rows.start),
            last_id: vectors.ids[rows.end - 1],
            count: rows.len(),
            data: vectors.pack(rows, &self.messages),
            replaces: std::mem::take(&mut self.vectors_progress.damaged),
            deletions: self.deletions(),
        })
    }

    /// Returns whether there are enough unpacked summaries for a segment and none of the indexed ones has been deleted.
    fn has_summaries_to_pack(&self) -> bool {
        self.state.is_some_and(|state| state.deleted_summaries == self.summaries_as_of)
            && segments::next_to_pack(&self.summaries_progress).is_some()
    }

    fn take_summary_segment(&mut self) -> Option<Segment> {
        let summaries = self.summaries.as_ref().filter(|_| self.has_summaries_to_pack())?;
        let rows = segments::next_to_pack(&self.summaries_progress)?;
        segments::mark_packed(&mut self.summaries_progress, &rows);
        Some(Segment {
            kind: "summaries",
            model: summaries.key(),
            first_id: first_covered(&summaries.ids, rows.start),
            last_id: summaries.ids[rows.end - 1],
            count: rows.len(),
            data: summaries.pack(rows, &self.messages),
            replaces: std::mem::take(&mut self.summaries_progress.damaged),
            deletions: self.summaries_as_of,
        })
    }

    /// Returns the messages of these conversations, in order.
    pub(super) fn outlines(&self, conversations: &[ConversationId]) -> Vec<MessageOutline> {
        let mut numbers: Vec<u32> =
            conversations.iter().filter_map(|id| self.messages.conversation(*id)).collect();
        numbers.sort_unstable_by_key(|number| self.messages.conversation_ids[*number as usize]);
        numbers.dedup();
        let rows = numbers.iter().flat_map(|number| self.messages.rows_of(*number));
        rows.map(|row| self.messages.outline(row)).collect()
    }

    /// Returns the number of messages with embeddings from this model, or zero if another model's are loaded.
    pub(super) fn embedded_count(&self, model: &str) -> u64 {
        let vectors = self.vectors.as_ref().filter(|vectors| vectors.model == model);
        vectors.map_or(0, |vectors| vectors.embedded_messages)
    }

    /// Returns the messages that were sent in a period, oldest first.
    pub(super) fn outlines_between(&self, start: Timestamp, end: Timestamp) -> Vec<MessageOutline> {
        let period = start.as_millis()..end.as_millis();
        let mut rows: Vec<usize> =
            (0..self.messages.len()).filter(|row| period.contains(&self.messages.created[*row])).collect();
        rows.sort_by_key(|row| (self.messages.created[*row], *row));
        rows.into_iter().map(|row| self.messages.outline(row)).collect()
    }

    /// Returns the estimated similarity of each message in these conversations that has an embedding.
    pub(super) fn estimates(&self, vector: &[f32], conversations: &[ConversationId]) -> Vec<Match> {
        let Some(vectors) = &self.vectors else { return Vec::new() };
        let query = vectors.codes.query(vector);
        let numbers = conversations.iter().filter_map(|id| Some((*id, self.messages.conversation(*id)?)));
        numbers
            .flat_map(|(id, number)| self.messages.rows_of(number).map(move |row| (id, row)))
            .filter_map(|(conversation_id, message)| {
                let discounts = std::iter::once(0.0).chain(std::iter::repeat(LATER_PART_DISCOUNT));
                let rows = vectors.rows_of_message(message).zip(discounts);
                let estimates =
                    rows.map(|(row, discount)| f64::from(vectors.codes.estimate_row(&query, row)) - discount);
                Some(Match {
                    message_id: MessageId::new(self.messages.ids[message]),
                    conversation_id,
                    score: estimates.max_by(f64::total_cmp)?,
                })
            })
            .collect()
    }

    /// Returns the ids of messages of at least `min_tokens` tokens, newest first.
    pub(super) fn long_enough(&self, min_tokens: u32) -> Vec<i64> {
        self.rows_long_enough(min_tokens).map(|row| self.messages.ids[row]).collect()
    }

    fn rows_long_enough(&self, min_tokens: u32) -> impl Iterator<Item = usize> {
        let is_long_enough = move |row: &usize| u32::from(self.messages.tokens[*row]) >= min_tokens;
        (0..self.messages.len()).rev().filter(is_long_enough)
    }

    /// Returns the ids of messages of at least `min_tokens` tokens without an embedding of `model`, newest first, or
    /// `None` if the embeddings of that model are not indexed.
    pub(super) fn without_vector(&self, model: &str, min_tokens: u32) -> Option<Vec<i64>> {
        let vectors = self.vectors.as_ref().filter(|vectors| vectors.model == model)?;
        let rows = self.rows_long_enough(min_tokens).filter(|row| !vectors.has_message(*row));
        Some(rows.map(|row| self.messages.ids[row]).collect())
    }

    /// Returns the ids of the allowed summary embeddings with the highest estimates, best first.
    pub(super) fn nearest_summaries(
        &self,
        vector: &[f32],
        allowed: ScopedFilter<'_>,
        limit: usize,
    ) -> Vec<i64> {
        let Some(summaries) = &self.summaries else { return Vec::new() };
        summaries.nearest(vector, &Predicate::new(allowed, &self.messages), limit + EXTRA_SUMMARIES)
    }

    /// Returns whether summaries have embeddings.
    pub(super) fn has_summaries(&self) -> bool {
        self.summaries.as_ref().is_some_and(|summaries| !summaries.ids.is_empty())
    }

    /// Returns the distinct author names of all messages that have one.
    pub(super) fn names(&self) -> Vec<String> {
        self.messages.names.clone()
    }

    /// Returns the allowed message embeddings with the highest estimates, best first.
    pub(super) fn nearest(
        &self,
        vector: &[f32],
        allowed: ScopedFilter<'_>,
        accuracy: Accuracy,
        graphs: &Graphs,
        limit: usize,
    ) -> Vec<Neighbor> {
        let Some(vectors) = &self.vectors else { return Vec::new() };
        let predicate = Predicate::new(allowed, &self.messages);
        let query = vectors.codes.query(vector);
        let graph = graphs.current(&vectors.coded_vectors(), accuracy, self.deletions());
        let index: &dyn VectorIndex = match &graph {
            Some(graph) => graph.as_ref(),
            None => &Scan,
        };
        // A search without a filter is faster.
        let allows_all = predicate.allows_all() && vectors.all_have_messages;
        let vector_filter = VectorFilter { predicate, vectors };
        let row_filter: Option<&dyn RowFilter> = if allows_all { None } else { Some(&vector_filter) };
        let extra = MIN_EXTRA.max(limit / 2) + vectors.ids.len() / EMBEDDINGS_PER_EXTRA;
        let candidates = index.nearest(&vectors.codes, &query, row_filter, limit + extra);
        let candidates = vectors.refine(vector, candidates, limit);
        let neighbor =
            |Candidate { row, estimate }| Neighbor { embedding: vectors.ids[row as usize], estimate };
        candidates.into_iter().map(neighbor).collect()
    }

    /// Returns the embeddings to cache in memory, if there are few enough and they are not cached yet.
    pub(super) fn vectors_to_cache(&self) -> Option<CacheRequest> {
        let vectors = self.vectors.as_ref()?;
        vectors.needs_cache().then(|| CacheRequest {
            model: vectors.model.clone(),
            dimensions: vectors.codes.dimensions(),
            ids: vectors.ids.clone(),
            deletions: self.deletions(),
        })
    }

    /// Caches embeddings that were read, unless embeddings have been added or deleted in the meantime.
    pub(super) fn cache_vectors(&mut self, request: &CacheRequest, bytes: QuantizedVectors) {
        let deletions = self.deletions();
        if let Some(vectors) = &mut self.vectors
            && (&vectors.model, vectors.codes.dimensions()) == (&request.model, request.dimensions)
            && deletions == request.deletions
        {
            vectors.cache(bytes);
        }
    }
}

/// Returns the first id that a segment starting at `row` covers, which is the one after the previous row's id.
fn first_covered(ids: &[i64], row: usize) -> i64 {
    row.checked_sub(1).map_or(1, |previous| ids[previous] + 1)
}
