//! The vectors of messages, in memory: their codes, in order of their ids. The vectors themselves stay in the database.

use memoir_index::{Bytes, Candidate, Codes, TOGETHER};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{
    columns,
    graph::Coded,
    messages::{Messages, NONE},
    stretch::Stretch,
    vector_bytes::numbers,
};

/// What the rows that are not packed yet are read with, for ids in between. By their ids: an index over models would have
/// every row looked at each time.
pub(super) const UNPACKED: &str = "SELECT id, subject_id, vector FROM embeddings NOT INDEXED
     WHERE id > ?1 AND id < ?2 AND model = ?3 AND dimensions = ?4 AND subject_kind = 'message'
     ORDER BY id";

/// All vectors of one model.
#[derive(Debug)]
pub(super) struct Vectors {
    pub(super) model: String,
    pub(super) codes: Codes,
    /// Ids of embeddings, and the rows of their messages.
    pub(super) ids: Vec<i64>,
    pub(super) messages: Vec<u32>,
    /// For each message its row here.
    of_message: Vec<u32>,
    /// What is known of every [`TOGETHER`] of them.
    pub(super) stretches: Vec<Stretch>,
    /// Whether every vector has a message.
    pub(super) all_placed: bool,
    /// The vectors in 8 bits, all of them, when they are few and were read.
    bytes: Option<Bytes>,
}

/// So many vectors are held in 8 bits: 50 MB. With more, candidates are read from the database.
const MOST_IN_MEMORY: usize = 1 << 17;

/// With fewer, reading candidates costs nothing that would be noticed.
const FEWEST_IN_MEMORY: usize = 5000;

/// With 8 bits at hand, so many more than are wanted are still looked at exactly: the last may be in the wrong order.
const NEARLY_TIED: usize = 16;

impl Vectors {
    pub(super) fn new(model: &str, dimensions: usize) -> Self {
        Self {
            model: model.to_owned(),
            codes: Codes::new(dimensions),
            ids: Vec::new(),
            messages: Vec::new(),
            of_message: Vec::new(),
            stretches: Vec::new(),
            all_placed: true,
            bytes: None,
        }
    }

    /// Whose they are and how long: what segments are kept under.
    pub(super) fn key(&self) -> String {
        format!("{}#{}", self.model, self.codes.dimensions())
    }

    pub(super) fn coded(&self) -> Coded<'_> {
        Coded { table: "embeddings", model: &self.model, codes: &self.codes, ids: &self.ids }
    }

    /// Whether the vectors in 8 bits are missing.
    pub(super) fn wants_bytes(&self) -> bool {
        self.bytes.is_none() && (FEWEST_IN_MEMORY..=MOST_IN_MEMORY).contains(&self.ids.len())
    }

    pub(super) fn hold(&mut self, bytes: Bytes) {
        if bytes.len() == self.ids.len() {
            self.bytes = Some(bytes);
        }
    }

    /// The candidates that are worth an exact look: all, or the best in 8 bits.
    pub(super) fn closest(&self, vector: &[f32], mut found: Vec<Candidate>, limit: usize) -> Vec<Candidate> {
        if let Some(bytes) = &self.bytes {
            for candidate in &mut found {
                candidate.estimate = bytes.similarity_to(vector, candidate.row);
            }
            found.sort_unstable_by(|a, b| b.estimate.total_cmp(&a.estimate));
            found.truncate(limit + NEARLY_TIED);
        }
        found
    }

    /// The row of a message's vector.
    pub(super) fn row_of_message(&self, message: usize) -> Option<u32> {
        self.of_message.get(message).copied().filter(|row| *row != NONE)
    }

    /// Adds a row of [`UNPACKED`].
    pub(super) fn push_sql(&mut self, row: &SqliteRow, messages: &Messages) -> Result<i64, sqlx::Error> {
        let (id, subject): (i64, i64) = (row.try_get("id")?, row.try_get("subject_id")?);
        let vector = numbers(row.try_get("vector")?);
        if vector.len() == self.codes.dimensions() {
            self.codes.push(&vector);
            if let Some(bytes) = &mut self.bytes {
                bytes.push(&vector);
            }
            self.place(id, subject, messages);
        }
        Ok(id)
    }

    fn place(&mut self, id: i64, subject: i64, messages: &Messages) {
        let message = messages.row(subject);
        self.all_placed &= message.is_some();
        if self.ids.len().is_multiple_of(TOGETHER) {
            self.stretches.push(Stretch::default());
        }
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.add(message, messages);
        }
        if let Some(message) = message {
            if self.of_message.len() <= message {
                self.of_message.resize(messages.len(), NONE);
            }
            self.of_message[message] = u32::try_from(self.ids.len()).unwrap_or(NONE);
        }
        self.ids.push(id);
        self.messages.push(message.and_then(|row| u32::try_from(row).ok()).unwrap_or(NONE));
    }

    /// Rows as a segment.
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

    /// Adds a segment of `count` rows; says whether it was one.
    pub(super) fn unpack(&mut self, mut bytes: &[u8], count: usize, messages: &Messages) -> bool {
        let mut read = || {
            let ids = columns::read::<i64>(&mut bytes, count)?;
            let subjects = columns::read::<i64>(&mut bytes, count)?;
            self.codes.import(bytes, count).then_some(())?;
            ids.zip(subjects).for_each(|(id, subject)| self.place(id, subject, messages));
            Some(())
        };
        read().is_some()
    }
}
