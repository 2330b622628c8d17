//! The vectors of messages, in memory: their codes, in order of their ids. The vectors themselves stay in the database.

use half::f16;
use memoir_index::Codes;
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{
    columns,
    messages::{Messages, NONE},
};

/// What the rows that are not packed yet are read with, for ids in between.
pub(super) const UNPACKED: &str = "SELECT id, subject_id, vector FROM embeddings
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
}

impl Vectors {
    pub(super) fn new(model: &str, dimensions: usize) -> Self {
        Self {
            model: model.to_owned(),
            codes: Codes::new(dimensions),
            ids: Vec::new(),
            messages: Vec::new(),
            of_message: Vec::new(),
        }
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
            self.place(id, subject, messages);
        }
        Ok(id)
    }

    fn place(&mut self, id: i64, subject: i64, messages: &Messages) {
        let message = messages.row(subject);
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

/// A vector as it is kept in the database.
pub(in crate::sqlite) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect()
}

/// A vector as it was kept.
pub(in crate::sqlite) fn numbers(bytes: &[u8]) -> Vec<f32> {
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs.iter().map(|pair| f16::from_le_bytes(*pair).to_f32()).collect()
}

/// The cosine of two vectors of length one.
pub(in crate::sqlite) fn cosine(vector: &[f32], kept: &[u8]) -> f64 {
    let (pairs, _) = kept.as_chunks::<2>();
    let products = vector.iter().zip(pairs).map(|(a, b)| a * f16::from_le_bytes(*b).to_f32());
    f64::from(products.sum::<f32>())
}
