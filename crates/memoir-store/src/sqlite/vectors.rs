//! Vectors kept in memory for searching: derived from the database, and brought up to date before each search.

use half::f16;
use memoir_core::{ConversationId, MessageId};
use sqlx::{Row as _, SqlitePool};

use super::error::store_error;
use crate::{Match, Result};

/// All vectors of one model.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    model: String,
    dimensions: usize,
    /// The last row that was read, and how many had been deleted by then.
    last_id: i64,
    deleted: i64,
    messages: Vec<MessageId>,
    conversations: Vec<ConversationId>,
    /// Row after row, 8 bits a number.
    values: Vec<i8>,
    scales: Vec<f32>,
}

impl Vectors {
    /// Reads what other connections and processes have written since the last time.
    pub(super) async fn refresh(
        &mut self,
        readers: &SqlitePool,
        model: &str,
        dimensions: usize,
    ) -> Result<()> {
        let deleted: i64 = sqlx::query_scalar("SELECT count FROM _deleted_embeddings")
            .fetch_one(readers)
            .await
            .map_err(store_error)?;
        if self.model != model || self.dimensions != dimensions || self.deleted != deleted {
            *self = Self { model: model.to_owned(), dimensions, deleted, ..Self::default() };
        }
        let new = sqlx::query(
            "SELECT id, subject_id, conversation_id, vector FROM embeddings
             WHERE id > ? AND model = ? AND dimensions = ? ORDER BY id",
        )
        .bind(self.last_id)
        .bind(model)
        .bind(i64::try_from(dimensions).unwrap_or(i64::MAX))
        .fetch_all(readers)
        .await
        .map_err(store_error)?;
        for row in new {
            let read = || -> std::result::Result<_, sqlx::Error> {
                Ok((
                    row.try_get("id")?,
                    row.try_get("subject_id")?,
                    row.try_get("conversation_id")?,
                    row.try_get("vector")?,
                ))
            };
            let (id, message, conversation, vector): (i64, i64, i64, &[u8]) = read().map_err(store_error)?;
            self.push(MessageId::new(message), ConversationId::new(conversation), &numbers(vector));
            self.last_id = id;
        }
        Ok(())
    }

    fn push(&mut self, message: MessageId, conversation: ConversationId, vector: &[f32]) {
        if vector.len() != self.dimensions {
            return;
        }
        let (values, scale) = eight_bits(vector);
        self.messages.push(message);
        self.conversations.push(conversation);
        self.values.extend(values);
        self.scales.push(scale);
    }

    /// The nearest rows outside `except`, best first.
    pub(super) fn nearest(&self, vector: &[f32], except: Option<ConversationId>, limit: usize) -> Vec<Match> {
        let (query, query_scale) = eight_bits(vector);
        let mut matches: Vec<Match> = self
            .values
            .chunks_exact(self.dimensions.max(1))
            .enumerate()
            .filter(|(row, _)| Some(self.conversations[*row]) != except)
            .map(|(row, values)| Match {
                message_id: self.messages[row],
                conversation_id: self.conversations[row],
                score: f64::from(dot(values, &query) * self.scales[row] * query_scale),
            })
            .collect();
        let better = |a: &Match, b: &Match| b.score.total_cmp(&a.score);
        if matches.len() > limit && limit > 0 {
            matches.select_nth_unstable_by(limit - 1, better);
            matches.truncate(limit);
        }
        matches.sort_by(better);
        matches
    }
}

fn dot(a: &[i8], b: &[i8]) -> f32 {
    let sum: i32 = a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
    #[expect(
        clippy::cast_precision_loss,
        reason = "sums stay far below 2^24 for vectors of any length in use"
    )]
    let sum = sum as f32;
    sum
}

fn eight_bits(vector: &[f32]) -> (Vec<i8>, f32) {
    let largest = vector.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
    let scale = largest / 127.0;
    #[expect(clippy::cast_possible_truncation, reason = "between -127 and 127")]
    let values = vector.iter().map(|value| (value / scale).round() as i8).collect();
    (values, scale)
}

/// A vector as it is kept in the database.
pub(super) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs.iter().map(|pair| f16::from_le_bytes(*pair).to_f32()).collect()
}
