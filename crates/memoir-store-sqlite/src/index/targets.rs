//! The tables that segments and unpacked rows are read into.

use sqlx::sqlite::SqliteRow;

use super::{
    messages::{self, Messages},
    segments::SegmentTarget,
    summaries::{self, SummaryIndex},
    vectors::{self, Vectors},
};

impl SegmentTarget for Messages {
    fn rows(&self) -> usize {
        self.len()
    }

    fn reserve(&mut self, rows: usize) {
        Self::reserve(self, rows);
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

/// Reads message embeddings, which refer to rows of the messages.
pub(super) struct VectorTarget<'a> {
    pub(super) vectors: &'a mut Vectors,
    pub(super) messages: &'a Messages,
}

impl SegmentTarget for VectorTarget<'_> {
    fn rows(&self) -> usize {
        self.vectors.ids.len()
    }

    fn reserve(&mut self, rows: usize) {
        self.vectors.reserve(rows);
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

/// Reads summary embeddings, which refer to conversations of the messages.
pub(super) struct SummaryTarget<'a> {
    pub(super) summaries: &'a mut SummaryIndex,
    pub(super) messages: &'a Messages,
}

impl SegmentTarget for SummaryTarget<'_> {
    fn rows(&self) -> usize {
        self.summaries.ids.len()
    }

    fn reserve(&mut self, rows: usize) {
        self.summaries.reserve(rows);
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
