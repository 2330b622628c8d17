//! Stems of words, as the full-text index has them.
//!
//! FTS5 has the stemmer and does not lend it: an index of its own, in memory, is given the words and read back.

use std::collections::HashMap;

use memoir_store::Result;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};
use tokio::sync::Mutex;

use super::error::SqlResultExt as _;

/// As many words are remembered; people ask with few.
const MOST: usize = 10_000;

/// The stemmer of the full-text index.
#[derive(Debug)]
pub(super) struct Stems {
    database: SqlitePool,
    known: Mutex<Option<HashMap<String, Vec<String>>>>,
}

impl Stems {
    pub(super) fn new() -> Self {
        let options = SqliteConnectOptions::new().in_memory(true);
        // One connection that stays: another would be another database.
        let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        Self { database: pool.connect_lazy_with(options), known: Mutex::default() }
    }

    /// The stem of a word. What the index takes for several words has several.
    pub(super) async fn find(&self, word: &str) -> Result<Vec<String>> {
        let mut known = self.known.lock().await;
        if known.is_none() {
            for statement in [
                // As in the first migration.
                "CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')",
                "CREATE VIRTUAL TABLE IF NOT EXISTS stem USING fts5vocab (word, 'instance')",
            ] {
                sqlx::query(statement).execute(&self.database).await.or_store_error()?;
            }
        }
        let known = known.get_or_insert_default();
        if let Some(stems) = known.get(word) {
            return Ok(stems.clone());
        }
        for statement in ["DELETE FROM word", "INSERT INTO word (text) VALUES (?)"] {
            sqlx::query(statement).bind(word).execute(&self.database).await.or_store_error()?;
        }
        let stems: Vec<String> = sqlx::query_scalar("SELECT DISTINCT term FROM stem")
            .fetch_all(&self.database)
            .await
            .or_store_error()?;
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(word.to_owned(), stems.clone());
        Ok(stems)
    }

    pub(super) async fn close(&self) {
        self.database.close().await;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::Stems;

    #[tokio::test]
    async fn words_have_the_stems_of_the_index() {
        let stems = Stems::new();
        for (word, expected) in
            [("barking", "bark"), ("Cafés", "cafe"), ("you", "you"), ("barking", "bark"), ("你好", "你好")]
        {
            assert_eq!(stems.find(word).await.unwrap(), [expected]);
        }
        assert_eq!(stems.find("it's 4").await.unwrap(), ["4", "it", "s"]);
        for nothing in ["", "?!", "\0"] {
            assert!(stems.find(nothing).await.unwrap().is_empty(), "{nothing:?}");
        }
    }
}
