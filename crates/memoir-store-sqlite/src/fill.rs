//! Fills a store with generated conversations, for benchmarks.

use std::path::Path;

use memoir_store::{Memory as _, Result};
use sqlx::AssertSqlSafe;

use super::{SqliteStore, error::SqlResultExt as _, index};

impl SqliteStore {
    /// Adds `exchanges` exchanges of two messages each, twenty per conversation, in one transaction. `text` returns the
    /// text of a message, given its number.
    pub async fn fill_for_benchmark(&self, exchanges: i64, text: impl Fn(i64) -> String) -> Result<()> {
        self.fill_conversations_for_benchmark(exchanges, 20, text).await
    }

    /// Like [`fill_for_benchmark`](Self::fill_for_benchmark), with `each` exchanges per conversation.
    pub async fn fill_conversations_for_benchmark(
        &self,
        exchanges: i64,
        each: i64,
        text: impl Fn(i64) -> String,
    ) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for statement in [
            "INSERT INTO conversations (id, title, scope, model, created, updated)
             WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT (?1 + ?2 - 1) / ?2)
             SELECT i + 1, 'Conversation ' || i, '/made/up', 'made/up', i * ?2 * 1000, (i + 1) * ?2 * 1000 - 1000 FROM n WHERE ?1 > 0",
            "INSERT INTO exchanges
                 (id, conversation_id, status, started, completed, user_message, assistant_message, model,
                  input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
                  cost, tool_call_count, request_count)
             WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT ?1)
             SELECT i + 1, i / ?2 + 1, 'completed', i * 1000, i * 1000 + 900,
                    'question ' || i, 'answer ' || i, 'made/up', 10, 5, 0, 0, 0, 100, 0, 1 FROM n WHERE ?1 > 0",
        ] {
            sqlx::query(statement).bind(exchanges).bind(each).execute(&mut *transaction).await.or_store_error()?;
        }
        for number in 0..2 * exchanges {
            let exchange = number / 2;
            let content = text(number);
            sqlx::query(
                "INSERT INTO messages
                     (exchange_id, conversation_id, role, content, redacted, derived, tokens, created)
                 VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?6)",
            )
            .bind(exchange + 1)
            .bind(exchange / each + 1)
            .bind(if number % 2 == 0 { "user" } else { "assistant" })
            .bind(&content)
            .bind(i64::try_from(content.len() / 4).unwrap_or(i64::MAX))
            .bind(exchange * 1000)
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        }
        transaction.commit().await.or_store_error()
    }

    /// Adds an embedding of `model` to every message, in one transaction. `vector` returns the embedding of a message,
    /// given its id.
    pub async fn fill_vectors_for_benchmark(
        &self,
        model: &str,
        mut vector: impl FnMut(i64) -> Vec<f32>,
    ) -> Result<()> {
        let ids: Vec<i64> = sqlx::query_scalar("SELECT id FROM messages ORDER BY id")
            .fetch_all(&self.readers)
            .await
            .or_store_error()?;
        let mut transaction = self.begin_write().await?;
        for id in ids {
            let vector = vector(id);
            sqlx::query(
                "INSERT INTO embeddings
                     (subject_kind, subject_id, part, first, past, conversation_id, model, dimensions, vector)
                 SELECT 'message', id, 0, 0, octet_length(content), conversation_id, ?1, ?2, ?3
                 FROM messages WHERE id = ?4",
            )
            .bind(model)
            .bind(i64::try_from(vector.len()).unwrap_or(i64::MAX))
            .bind(index::encode_vector(&vector))
            .bind(id)
            .execute(&mut *transaction)
            .await
            .or_store_error()?;
        }
        transaction.commit().await.or_store_error()
    }

    /// Adds a summary with an embedding of `model` to every exchange and conversation, in one transaction.
    pub async fn fill_summaries_for_benchmark(
        &self,
        model: &str,
        mut vector: impl FnMut(i64) -> Vec<f32>,
    ) -> Result<()> {
        let mut transaction = self.begin_write().await?;
        for (table, kind) in [("exchanges", "exchange"), ("conversations", "conversation")] {
            let conversation = if kind == "exchange" { "conversation_id" } else { "id" };
            let statement =
                format!("UPDATE {table} SET summary = 'in short', summary_by = 'made/up' RETURNING id");
            let ids: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(statement))
                .fetch_all(&mut *transaction)
                .await
                .or_store_error()?;
            let statement = format!(
                "INSERT INTO summary_embeddings (subject_kind, subject_id, conversation_id, model, dimensions, vector)
                 SELECT '{kind}', id, {conversation}, ?1, ?2, ?3 FROM {table} WHERE id = ?4"
            );
            for id in ids {
                let vector = vector(-id);
                sqlx::query(AssertSqlSafe(statement.clone()))
                    .bind(model)
                    .bind(i64::try_from(vector.len()).unwrap_or(i64::MAX))
                    .bind(index::encode_vector(&vector))
                    .bind(id)
                    .execute(&mut *transaction)
                    .await
                    .or_store_error()?;
            }
        }
        transaction.commit().await.or_store_error()
    }
}

/// Exchanges in each conversation of [`fill_file`].
pub const EXCHANGES_PER_CONVERSATION: i64 = 10;

/// Creates a database with generated messages, each with a random embedding of `model`, and packs its index.
pub async fn fill_file(path: &Path, messages: i64, model: &str, dimensions: usize) -> Result<()> {
    let store = SqliteStore::open(path).await?;
    store.fill_conversations_for_benchmark(messages / 2, EXCHANGES_PER_CONVERSATION, generate_text).await?;
    store.fill_vectors_for_benchmark(model, |number| vector(number, dimensions)).await?;
    // The first search packs the index.
    store.similarities(model, &vector(0, dimensions), &[]).await?;
    store.settle().await;
    store.close().await;
    Ok(())
}

/// Returns a pseudorandom vector of length 1, which depends on `number` only.
pub fn vector(number: i64, dimensions: usize) -> Vec<f32> {
    let mut state = number.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 16_777_216.0 - 0.5
    };
    let mut vector: Vec<f32> = (0..dimensions).map(|_| random()).collect();
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|value| *value /= length);
    vector
}

/// Returns a generated message. The words are as frequent as in natural language, so that the full-text index is
/// realistic.
pub fn generate_text(number: i64) -> String {
    let mut state = number.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let length = 6 + random() % 40;
    let words = (0..length).map(|_| word(random()));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns a generated word. As in natural language, its frequency is inversely proportional to its rank.
fn word(random: u64) -> String {
    const VOCABULARY: f64 = 40_000.0;
    // Inverts the cumulative distribution of 1/rank.
    let share = (random >> 11) as f64 / (1_u64 << 53) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the rank is between 1 and 40,000"
    )]
    let rank = VOCABULARY.powf(share) as u64;
    word_of_rank(rank)
}

/// Returns the generated word with this rank.
pub fn word_of_rank(rank: u64) -> String {
    const PREFIXES: [&str; 16] = [
        "tea", "car", "dog", "sun", "map", "pen", "hat", "ice", "oak", "key", "bus", "cup", "bed", "fox",
        "jam", "rib",
    ];
    format!("{}{}", PREFIXES[usize::try_from(rank % 16).unwrap_or(0)], rank / 16)
}
