//! The index in memory: where every message stands, and a code for every vector.
//!
//! It is derived from the database, filled when something is first looked for, and brought up to date before every
//! search, so that what another process has committed is found. Most of it comes from segments, in which rows were
//! packed by whoever read them one by one before; a segment that is missing, stale or damaged costs time, not answers.
//!
//! New rows are recognised by their ids, which grow in the order of commits because SQLite has a single writer. Nothing
//! outside this crate relies on that.

mod chunks;
mod columns;
mod filter;
mod graph;
mod messages;
mod segments;
mod stretch;
mod summaries;
mod vector_bytes;
mod vectors;
mod words;

use memoir_core::{ConversationId, MessageId};
use memoir_index::{Bytes, Candidate, Keep, Scan, VectorIndex};
use memoir_store::{Accuracy, Match, MessageOutline, Result};
use sqlx::{Connection as _, SqliteConnection, SqlitePool, sqlite::SqliteRow};

use super::error::SqlResultExt as _;
use filter::{OfVectors, Predicate};
use messages::Messages;
use segments::{Kind, Progress, SegmentTarget};
use summaries::SummaryIndex;
use vectors::Vectors;

pub(super) use chunks::Chunks;
pub(super) use filter::Allowed;
pub(super) use graph::{Coded, Graphs, read_vectors};
pub(super) use segments::{Segment, write};
pub(super) use vector_bytes::{bytes, cosine, numbers};

/// So many more candidates than are wanted are told, at least: estimates are coarse, and the more there are, the more of them
/// come in between.
const MORE: usize = 300;
const ONE_MORE_FOR_EACH: usize = 1500;

/// The same for summaries, of which few are wanted.
const MORE_SUMMARIES: usize = 60;

/// An embedding that may be near.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) embedding: i64,
    pub(super) estimate: f32,
}

/// Vectors that are to be read.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) model: String,
    pub(super) dimensions: usize,
    pub(super) ids: Vec<i64>,
    deletions: i64,
}

/// What is known of everything that was said.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// What the database was like when this was read.
    state: Option<State>,
    messages: Messages,
    messages_read: Progress,
    vectors: Option<Vectors>,
    vectors_read: Progress,
    summaries: Option<SummaryIndex>,
    summaries_read: Progress,
    /// How many had been deleted when they were read.
    summaries_as_of: i64,
}

/// By what it is told that something was written. Vectors that came while others were read are noticed too.
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

/// Vectors of which model, and of what length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Which<'a> {
    pub(super) model: &'a str,
    pub(super) dimensions: usize,
}

impl Index {
    /// Reads what was written since the last time: messages, and vectors when `which` says which.
    pub(super) async fn refresh(&mut self, readers: &SqlitePool, which: Option<Which<'_>>) -> Result<()> {
        let mut connection = readers.acquire().await.or_store_error()?;
        let state = State::read(&mut connection).await?;
        if self.state == Some(state) && which.is_none_or(|which| self.has(which)) {
            return Ok(());
        }
        // One moment for all that is read.
        let mut moment = connection.begin().await.or_store_error()?;
        let state = State::read(&mut moment).await?;
        if self.deletions() != state.deletions {
            *self = Self::default();
        }
        // Vectors of summaries that were written anew drop out when they are measured; too many of them would take the
        // others' places.
        let gone = state.deleted_summaries - self.summaries_as_of;
        let held = self.summaries.as_ref().map_or(0, |summaries| summaries.ids.len());
        let too_many = i64::try_from(MORE_SUMMARIES / 2 + held / 16).unwrap_or(i64::MAX);
        if self.summaries.is_none() || !(0..=too_many).contains(&gone) {
            (self.summaries, self.summaries_read) = (None, Progress::default());
            self.summaries_as_of = state.deleted_summaries;
        }
        // Should reading fail in its middle, the next time goes on from there.
        self.state = Some(State { last_message: -1, ..state });
        self.read(&mut moment, which).await?;
        self.state = Some(state);
        Ok(())
    }

    /// Whether the vectors here are those of a model.
    fn has(&self, which: Which<'_>) -> bool {
        let known = self.vectors.as_ref();
        known.is_some_and(|known| known.model == which.model && known.codes.dimensions() == which.dimensions)
    }

    /// What a graph would be built of, and after how many deletions.
    pub(super) fn coded(&self) -> Option<(Coded<'_>, i64)> {
        Some((self.vectors.as_ref()?.coded(), self.deletions()))
    }

    fn deletions(&self) -> i64 {
        self.state.map_or(0, |state| state.deletions)
    }

    async fn read(&mut self, connection: &mut SqliteConnection, which: Option<Which<'_>>) -> Result<()> {
        let kind = Kind { name: "messages", model: "" };
        segments::read(connection, kind, &mut self.messages_read, &mut self.messages).await?;
        // Vectors that are here stay up to date whoever asks.
        let known = self.vectors.as_ref().map(|known| (known.model.clone(), known.codes.dimensions()));
        let known = known.as_ref().map(|(model, dimensions)| Which { model, dimensions: *dimensions });
        let Some(Which { model, dimensions }) = which.or(known) else { return Ok(()) };
        if !self.has(Which { model, dimensions }) {
            self.vectors = Some(Vectors::new(model, dimensions));
            self.vectors_read = Progress::default();
            self.summaries = None;
        }
        if self.summaries.is_none() {
            self.summaries = Some(SummaryIndex::new(model, dimensions));
            self.summaries_read = Progress::default();
        }
        if let Some(vectors) = &mut self.vectors {
            let key = vectors.key();
            let mut target = WithMessages { vectors, messages: &self.messages };
            let kind = Kind { name: "vectors", model: &key };
            segments::read(connection, kind, &mut self.vectors_read, &mut target).await?;
        }
        if let Some(summaries) = &mut self.summaries {
            let key = summaries.key();
            let mut target = SummariesOf { summaries, messages: &self.messages };
            let kind = Kind { name: "summaries", model: &key };
            segments::read(connection, kind, &mut self.summaries_read, &mut target).await?;
        }
        Ok(())
    }

    /// Whether there is anything worth packing.
    pub(super) fn is_worth_packing(&self) -> bool {
        segments::next_to_pack(&self.messages_read, self.messages.len()).is_some()
            || self.vectors.as_ref().is_some_and(|vectors| {
                segments::next_to_pack(&self.vectors_read, vectors.ids.len()).is_some()
            })
            || self.has_summaries_to_pack()
    }

    /// The next segment to be written. It counts as written from now on: should writing fail, the rows are read from
    /// where they are the next time.
    pub(super) fn take_segment(&mut self) -> Option<Segment> {
        if let Some(rows) = segments::next_to_pack(&self.messages_read, self.messages.len()) {
            segments::packed(&mut self.messages_read, &rows);
            return Some(Segment {
                kind: "messages",
                model: String::new(),
                first_id: first_covered(&self.messages.ids, rows.start),
                last_id: self.messages.ids[rows.end - 1],
                count: rows.len(),
                data: self.messages.pack(rows),
                instead_of: std::mem::take(&mut self.messages_read.damaged),
                deletions: self.deletions(),
            });
        }
        self.take_segment_of_vectors().or_else(|| self.take_segment_of_summaries())
    }

    fn take_segment_of_vectors(&mut self) -> Option<Segment> {
        let vectors = self.vectors.as_ref()?;
        let rows = segments::next_to_pack(&self.vectors_read, vectors.ids.len())?;
        segments::packed(&mut self.vectors_read, &rows);
        Some(Segment {
            kind: "vectors",
            model: vectors.key(),
            first_id: first_covered(&vectors.ids, rows.start),
            last_id: vectors.ids[rows.end - 1],
            count: rows.len(),
            data: vectors.pack(rows, &self.messages),
            instead_of: std::mem::take(&mut self.vectors_read.damaged),
            deletions: self.deletions(),
        })
    }

    /// Whether there are any, and none of those that are here is gone.
    fn has_summaries_to_pack(&self) -> bool {
        self.state.is_some_and(|state| state.deleted_summaries == self.summaries_as_of)
            && self.summaries.as_ref().is_some_and(|summaries| {
                segments::next_to_pack(&self.summaries_read, summaries.ids.len()).is_some()
            })
    }

    fn take_segment_of_summaries(&mut self) -> Option<Segment> {
        let summaries = self.summaries.as_ref().filter(|_| self.has_summaries_to_pack())?;
        let rows = segments::next_to_pack(&self.summaries_read, summaries.ids.len())?;
        segments::packed(&mut self.summaries_read, &rows);
        Some(Segment {
            kind: "summaries",
            model: summaries.key(),
            first_id: first_covered(&summaries.ids, rows.start),
            last_id: summaries.ids[rows.end - 1],
            count: rows.len(),
            data: summaries.pack(rows, &self.messages),
            instead_of: std::mem::take(&mut self.summaries_read.damaged),
            deletions: self.summaries_as_of,
        })
    }

    /// The messages of some conversations, in order.
    pub(super) fn outlines(&self, conversations: &[ConversationId]) -> Vec<MessageOutline> {
        let mut numbers: Vec<u32> =
            conversations.iter().filter_map(|id| self.messages.conversation(*id)).collect();
        numbers.sort_unstable_by_key(|number| self.messages.conversation_ids[*number as usize]);
        numbers.dedup();
        let rows = numbers.iter().flat_map(|number| &self.messages.rows[*number as usize]);
        rows.map(|row| self.messages.outline(*row as usize)).collect()
    }

    /// How near the messages of some conversations seem to be.
    pub(super) fn estimates(&self, vector: &[f32], conversations: &[ConversationId]) -> Vec<Match> {
        let Some(vectors) = &self.vectors else { return Vec::new() };
        let query = vectors.codes.query(vector);
        let numbers = conversations.iter().filter_map(|id| Some((*id, self.messages.conversation(*id)?)));
        numbers
            .flat_map(|(id, number)| {
                self.messages.rows[number as usize].iter().map(move |row| (id, *row as usize))
            })
            .filter_map(|(conversation_id, message)| {
                let row = vectors.row_of_message(message)?;
                Some(Match {
                    message_id: MessageId::new(self.messages.ids[message]),
                    conversation_id,
                    score: vectors.codes.estimate_row(&query, row).into(),
                })
            })
            .collect()
    }

    /// The messages of at least so many tokens, newest first.
    pub(super) fn long_enough(&self, shortest: u32) -> Vec<i64> {
        self.rows_long_enough(shortest).map(|row| self.messages.ids[row]).collect()
    }

    fn rows_long_enough(&self, shortest: u32) -> impl Iterator<Item = usize> {
        let long = move |row: &usize| u32::from(self.messages.tokens[*row]) >= shortest;
        (0..self.messages.len()).rev().filter(long)
    }

    /// Those of them that have no vector of `model`, if its vectors are here.
    pub(super) fn without_vector(&self, model: &str, shortest: u32) -> Option<Vec<i64>> {
        let vectors = self.vectors.as_ref().filter(|vectors| vectors.model == model)?;
        let rows = self.rows_long_enough(shortest).filter(|row| vectors.row_of_message(*row).is_none());
        Some(rows.map(|row| self.messages.ids[row]).collect())
    }

    /// The vectors of summaries with the highest estimates among those that are allowed, best first.
    pub(super) fn nearest_summaries(&self, vector: &[f32], allowed: Allowed<'_>, limit: usize) -> Vec<i64> {
        let Some(summaries) = &self.summaries else { return Vec::new() };
        summaries.nearest(vector, &Predicate::new(allowed, &self.messages), limit + MORE_SUMMARIES)
    }

    /// The names of all who have spoken under one.
    pub(super) fn names(&self) -> Vec<String> {
        self.messages.names.clone()
    }

    /// The embeddings with the highest estimates among those that are allowed, best first.
    pub(super) fn nearest(
        &self,
        vector: &[f32],
        allowed: Allowed<'_>,
        accuracy: Accuracy,
        graphs: &Graphs,
        limit: usize,
    ) -> Vec<Near> {
        let Some(vectors) = &self.vectors else { return Vec::new() };
        let predicate = Predicate::new(allowed, &self.messages);
        let query = vectors.codes.query(vector);
        let graph = graphs.current(&vectors.coded(), accuracy, self.deletions());
        let index: &dyn VectorIndex = match &graph {
            Some(graph) => graph.as_ref(),
            None => &Scan,
        };
        // Where nothing is refused, nothing need be asked.
        let everything = predicate.allows_all() && vectors.all_placed;
        let of_vectors = OfVectors { predicate, vectors };
        let keep: Option<&dyn Keep> = if everything { None } else { Some(&of_vectors) };
        let more = MORE.max(limit / 2) + vectors.ids.len() / ONE_MORE_FOR_EACH;
        let found = index.nearest(&vectors.codes, &query, keep, limit + more);
        let found = vectors.closest(vector, found, limit);
        let near = |Candidate { row, estimate }| Near { embedding: vectors.ids[row as usize], estimate };
        found.into_iter().map(near).collect()
    }

    /// Which vectors to read for choosing between candidates, when they are few enough to be held in memory and are not.
    pub(super) fn wanted_in_memory(&self) -> Option<Wanted> {
        let vectors = self.vectors.as_ref()?;
        vectors.wants_bytes().then(|| Wanted {
            model: vectors.model.clone(),
            dimensions: vectors.codes.dimensions(),
            ids: vectors.ids.clone(),
            deletions: self.deletions(),
        })
    }

    /// Holds vectors that were read, unless others have come or gone meanwhile.
    pub(super) fn hold(&mut self, wanted: &Wanted, bytes: Bytes) {
        let deletions = self.deletions();
        if let Some(vectors) = &mut self.vectors
            && (&vectors.model, vectors.codes.dimensions()) == (&wanted.model, wanted.dimensions)
            && deletions == wanted.deletions
        {
            vectors.hold(bytes);
        }
    }
}

/// The first id that a segment from `row` on covers: the one after the row before.
fn first_covered(ids: &[i64], row: usize) -> i64 {
    row.checked_sub(1).map_or(1, |before| ids[before] + 1)
}

impl SegmentTarget for Messages {
    fn rows(&self) -> usize {
        self.len()
    }

    fn push(&mut self, row: &SqliteRow) -> std::result::Result<i64, sqlx::Error> {
        self.push_sql(row)
    }

    fn unpack(&mut self, data: &[u8], count: usize) -> bool {
        Self::unpack(self, data, count)
    }

    fn unpacked(&self) -> &'static str {
        messages::UNPACKED
    }

    fn model(&self) -> &str {
        ""
    }

    fn dimensions(&self) -> i64 {
        0
    }
}

/// Vectors, to be read beside the messages that they stand for.
struct WithMessages<'a> {
    vectors: &'a mut Vectors,
    messages: &'a Messages,
}

impl SegmentTarget for WithMessages<'_> {
    fn rows(&self) -> usize {
        self.vectors.ids.len()
    }

    fn push(&mut self, row: &SqliteRow) -> std::result::Result<i64, sqlx::Error> {
        self.vectors.push_sql(row, self.messages)
    }

    fn unpack(&mut self, data: &[u8], count: usize) -> bool {
        self.vectors.unpack(data, count, self.messages)
    }

    fn unpacked(&self) -> &'static str {
        vectors::UNPACKED
    }

    fn model(&self) -> &str {
        &self.vectors.model
    }

    fn dimensions(&self) -> i64 {
        i64::try_from(self.vectors.codes.dimensions()).unwrap_or(i64::MAX)
    }
}

/// Vectors of summaries, to be read beside the messages of their conversations.
struct SummariesOf<'a> {
    summaries: &'a mut SummaryIndex,
    messages: &'a Messages,
}

impl SegmentTarget for SummariesOf<'_> {
    fn rows(&self) -> usize {
        self.summaries.ids.len()
    }

    fn push(&mut self, row: &SqliteRow) -> std::result::Result<i64, sqlx::Error> {
        self.summaries.push_sql(row, self.messages)
    }

    fn unpack(&mut self, data: &[u8], count: usize) -> bool {
        self.summaries.unpack(data, count, self.messages)
    }

    fn unpacked(&self) -> &'static str {
        summaries::UNPACKED
    }

    fn model(&self) -> &str {
        &self.summaries.model
    }

    fn dimensions(&self) -> i64 {
        i64::try_from(self.summaries.codes.dimensions()).unwrap_or(i64::MAX)
    }
}
