//! The in-memory index of message embeddings: their codes, sorted by id. The embeddings themselves stay in the
//! database.

use std::collections::HashSet;

use memoir_index::{BATCH_ROWS, Candidate, Codes, QuantizedVectors};
use memoir_store::LATER_PART_DISCOUNT;
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{
    block_stats::BlockStats,
    columns,
    graph::CodedVectors,
    messages::{Messages, NONE},
    vector_bytes::decode_vector,
};

/// Selects the unpacked rows with ids between `?1` and `?2`. `NOT INDEXED` makes SQLite go by id: with the
/// index by model, it would scan all rows every time.
pub(super) const UNPACKED: &str = "SELECT id, subject_id, vector FROM embeddings NOT INDEXED
     WHERE id > ?1 AND id < ?2 AND model = ?3 AND dimensions = ?4 AND subject_kind = 'message'
     ORDER BY id";

/// The message embeddings of one model.
#[derive(Debug)]
pub(super) struct Vectors {
    pub(super) model: String,
    pub(super) codes: Codes,
    pub(super) ids: Vec<i64>,
    /// Row of the message of each embedding.
    pub(super) messages: Vec<u32>,
    /// Row of the first embedding of each message. Those of its other parts follow it, because all of them are stored
    /// together.
    rows_by_message: Vec<u32>,
    /// Number of messages that have embeddings.
    pub(super) embedded_messages: u64,
    /// Statistics on each block of [`BATCH_ROWS`] embeddings.
    pub(super) blocks: Vec<BlockStats>,
    /// Whether every embedding has a message.
    pub(super) all_have_messages: bool,
    /// All embeddings in 8-bit precision, once they have been cached.
    bytes: Option<QuantizedVectors>,
}

/// Maximum number of embeddings to cache in 8-bit precision, which takes 50 MB. With more, candidates are read from the
/// database.
const MAX_CACHED: usize = 1 << 17;

/// Minimum number of embeddings to cache. With fewer, reading candidates takes no noticeable time.
const MIN_CACHED: usize = 5000;

/// Number of candidates beyond the limit that are still scored exactly when ranked in 8-bit precision, because close
/// scores may be in the wrong order.
const EXTRA_CANDIDATES: usize = 16;

impl Vectors {
    pub(super) fn new(model: &str, dimensions: usize) -> Self {
        Self {
            model: model.to_owned(),
            codes: Codes::new(dimensions),
            ids: Vec::new(),
            messages: Vec::new(),
            rows_by_message: Vec::new(),
            embedded_messages: 0,
            blocks: Vec::new(),
            all_have_messages: true,
            bytes: None,
        }
    }

    /// Returns the key under which segments are stored.
    pub(super) fn key(&self) -> String {
        format!("{}#{}", self.model, self.codes.dimensions())
    }

    pub(super) fn coded_vectors(&self) -> CodedVectors<'_> {
        CodedVectors { table: "embeddings", model: &self.model, codes: &self.codes, ids: &self.ids }
    }

    /// Returns whether the embeddings should be cached and are not.
    pub(super) fn needs_cache(&self) -> bool {
        self.bytes.is_none() && (MIN_CACHED..=MAX_CACHED).contains(&self.ids.len())
    }

    pub(super) fn cache(&mut self, bytes: QuantizedVectors) {
        if bytes.len() == self.ids.len() {
            self.bytes = Some(bytes);
        }
    }

    /// Returns the candidates to score exactly: the best ones in 8-bit precision, or all if the embeddings are not
    /// cached.
    pub(super) fn refine(
        &self,
        vector: &[f32],
        mut candidates: Vec<Candidate>,
        limit: usize,
    ) -> Vec<Candidate> {
        if let Some(bytes) = &self.bytes {
            for candidate in &mut candidates {
                candidate.estimate = bytes.similarity_to(vector, candidate.row);
                if !self.is_first_part(candidate.row) {
                    candidate.estimate -= LATER_PART_DISCOUNT as f32;
                }
            }
            candidates.sort_unstable_by(|a, b| b.estimate.total_cmp(&a.estimate));
            // Of a message, the best part is enough.
            let mut seen = HashSet::new();
            candidates.retain(|candidate| seen.insert(self.messages[candidate.row as usize]));
            candidates.truncate(limit + EXTRA_CANDIDATES);
        }
        candidates
    }

    /// Returns whether an embedding is that of its message's first part.
    fn is_first_part(&self, row: u32) -> bool {
        let first = self.rows_by_message.get(self.messages[row as usize] as usize);
        first.is_none_or(|first| *first == row)
    }

    /// Returns whether a message has an embedding.
    pub(super) fn has_message(&self, message: usize) -> bool {
        self.rows_by_message.get(message).is_some_and(|row| *row != NONE)
    }

    /// Returns the rows of a message's embeddings.
    pub(super) fn rows_of_message(&self, message: usize) -> impl Iterator<Item = u32> {
        let first = self.rows_by_message.get(message).copied().filter(|row| *row != NONE);
        let is_part =
            move |row: &u32| self.messages.get(*row as usize).is_some_and(|owner| *owner as usize == message);
        first.into_iter().flat_map(|first| first..).take_while(is_part)
    }

    /// Makes room for more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
        self.ids.reserve(rows);
        self.messages.reserve(rows);
        self.rows_by_message.reserve(rows);
    }

    /// Adds a row of [`UNPACKED`].
    pub(super) fn push_sql(&mut self, row: &SqliteRow, messages: &Messages) -> Result<i64, sqlx::Error> {
        let (id, subject): (i64, i64) = (row.try_get("id")?, row.try_get("subject_id")?);
        let vector = decode_vector(row.try_get("vector")?);
        if vector.len() == self.codes.dimensions() {
            self.codes.push(&vector);
            if let Some(bytes) = &mut self.bytes {
                bytes.push(&vector);
            }
            self.add_entry(id, subject, messages);
        }
        Ok(id)
    }

    /// Adds everything about an embedding except its code.
    fn add_entry(&mut self, id: i64, subject: i64, messages: &Messages) {
        let message = messages.row(subject);
        self.all_have_messages &= message.is_some();
        if self.ids.len().is_multiple_of(BATCH_ROWS) {
            self.blocks.push(BlockStats::default());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.add(message, messages);
        }
        if let Some(message) = message {
            if self.rows_by_message.len() <= message {
                self.rows_by_message.resize(messages.len(), NONE);
            }
            if self.rows_by_message[message] == NONE {
                self.rows_by_message[message] = u32::try_from(self.ids.len()).unwrap_or(NONE);
                self.embedded_messages += 1;
            }
        }
        self.ids.push(id);
        self.messages.push(message.and_then(|row| u32::try_from(row).ok()).unwrap_or(NONE));
    }

    /// Packs rows into a segment.
    pub(super) fn pack(&self, rows: std::ops::Range<usize>, messages: &Messages) -> Vec<u8> {
        let mut bytes = Vec::new();
        let subjects: Vec<i64> = self.messages[rows.clone()]
            .iter()
            .map(|row| messages.ids.get(*row as usize).copied().unwrap_or(0))
            .collect();
        columns::write(&mut bytes, &self.ids[rows.clone()]);
        columns::write(&mut bytes, &subjects);
        self.codes.export(rows, &mut bytes);
        bytes
    }

    /// Adds the rows of a segment. Returns `false` if the segment is malformed.
    pub(super) fn unpack(&mut self, mut bytes: &[u8], count: usize, messages: &Messages) -> bool {
        let mut read = || {
            let ids = columns::read::<i64>(&mut bytes, count)?;
            let subjects = columns::read::<i64>(&mut bytes, count)?;
            self.codes.import(bytes, count).then_some(())?;
            ids.zip(subjects).for_each(|(id, subject)| self.add_entry(id, subject, messages));
            Some(())
        };
        read().is_some()
    }
}
