//! The in-memory index of summary embeddings: their codes, sorted by id.

use memoir_core::SubjectKind;
use memoir_index::{Codes, RowFilter, Scan, VectorIndex as _};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{
    columns,
    filter::Predicate,
    messages::{Messages, NONE},
    vector_bytes::decode_vector,
};

/// Selects the unpacked rows with ids between `?1` and `?2`.
pub(super) const UNPACKED: &str = "SELECT id, subject_kind, subject_id, conversation_id, vector,
        CASE subject_kind WHEN 'exchange' THEN (SELECT completed FROM exchanges WHERE id = subject_id)
                          ELSE (SELECT updated FROM conversations WHERE id = subject_id) END AS moment
     FROM summary_embeddings NOT INDEXED
     WHERE id > ?1 AND id < ?2 AND model = ?3 AND dimensions = ?4
     ORDER BY id";

/// The summary embeddings of one model.
#[derive(Debug)]
pub(super) struct SummaryIndex {
    pub(super) model: String,
    pub(super) codes: Codes,
    pub(super) ids: Vec<i64>,
    /// Ids of the summarized exchanges, or 0 for summaries of conversations.
    exchanges: Vec<i64>,
    /// Numbers of the conversations in [`Messages`].
    conversations: Vec<u32>,
    moments: Vec<i64>,
}

impl SummaryIndex {
    pub(super) fn new(model: &str, dimensions: usize) -> Self {
        Self {
            model: model.to_owned(),
            codes: Codes::new(dimensions),
            ids: Vec::new(),
            exchanges: Vec::new(),
            conversations: Vec::new(),
            moments: Vec::new(),
        }
    }

    /// Makes room for more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.codes.reserve(rows);
        self.ids.reserve(rows);
        self.exchanges.reserve(rows);
        self.conversations.reserve(rows);
        self.moments.reserve(rows);
    }

    /// Returns the key under which segments are stored.
    pub(super) fn key(&self) -> String {
        format!("{}#{}", self.model, self.codes.dimensions())
    }

    /// Returns the ids of the allowed embeddings with the highest estimates, best first.
    pub(super) fn nearest(&self, vector: &[f32], predicate: &Predicate<'_>, limit: usize) -> Vec<i64> {
        let accepts = |row: u32| {
            let row = row as usize;
            let number = self.conversations[row];
            number != NONE && predicate.allows_summary(number, self.moments[row], self.exchanges[row])
        };
        let candidates =
            Scan.nearest(&self.codes, &self.codes.query(vector), Some(&accepts as &dyn RowFilter), limit);
        candidates.into_iter().map(|candidate| self.ids[candidate.row as usize]).collect()
    }

    /// Adds a row of [`UNPACKED`].
    pub(super) fn push_sql(&mut self, row: &SqliteRow, messages: &Messages) -> Result<i64, sqlx::Error> {
        let id = row.try_get("id")?;
        let vector = decode_vector(row.try_get("vector")?);
        if vector.len() == self.codes.dimensions() {
            let is_exchange = row.try_get::<&str, _>("subject_kind")? == SubjectKind::Exchange.as_str();
            let exchange = if is_exchange { row.try_get("subject_id")? } else { 0 };
            let moment: Option<i64> = row.try_get("moment")?;
            self.codes.push(&vector);
            self.add_entry(id, exchange, row.try_get("conversation_id")?, moment.unwrap_or(0), messages);
        }
        Ok(id)
    }

    /// Adds everything about an embedding except its code.
    fn add_entry(&mut self, id: i64, exchange: i64, conversation: i64, moment: i64, messages: &Messages) {
        let number = messages.conversation(memoir_core::ConversationId::new(conversation));
        self.ids.push(id);
        self.exchanges.push(exchange);
        self.conversations.push(number.unwrap_or(NONE));
        self.moments.push(moment);
    }

    /// Packs rows into a segment.
    pub(super) fn pack(&self, rows: std::ops::Range<usize>, messages: &Messages) -> Vec<u8> {
        let mut bytes = Vec::new();
        let conversations: Vec<i64> = self.conversations[rows.clone()]
            .iter()
            .map(|number| messages.conversation_ids.get(*number as usize).copied().unwrap_or(0))
            .collect();
        columns::write(&mut bytes, &self.ids[rows.clone()]);
        columns::write(&mut bytes, &self.exchanges[rows.clone()]);
        columns::write(&mut bytes, &conversations);
        columns::write(&mut bytes, &self.moments[rows.clone()]);
        self.codes.export(rows, &mut bytes);
        bytes
    }

    /// Adds the rows of a segment. Returns `false` if the segment is malformed.
    pub(super) fn unpack(&mut self, mut bytes: &[u8], count: usize, messages: &Messages) -> bool {
        let mut read = || {
            let ids = columns::read::<i64>(&mut bytes, count)?;
            let exchanges = columns::read::<i64>(&mut bytes, count)?;
            let conversations = columns::read::<i64>(&mut bytes, count)?;
            let moments = columns::read::<i64>(&mut bytes, count)?;
            self.codes.import(bytes, count).then_some(())?;
            for (((id, exchange), conversation), moment) in ids.zip(exchanges).zip(conversations).zip(moments)
            {
                self.add_entry(id, exchange, conversation, moment, messages);
            }
            Some(())
        };
        read().is_some()
    }
}
