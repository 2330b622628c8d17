//! Finds the stems of words as the full-text index stores them.
//!
//! SQLite has no function that stems a word. Therefore words are added to a separate in-memory FTS5 index, from which
//! their stems are read back.

use std::collections::HashMap;

use memoir_store::Result;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};
use tokio::sync::Mutex;

use super::error::SqlResultExt as _;

/// Maximum number of cached words. Queries use few distinct words.
const MAX_CACHED: usize = 10_000;

/// The stemmer of the full-text index.
#[derive(Debug)]
pub(super) struct Stems {
    database: SqlitePool,
    /// Stems by word. `None` until the tables have been created.
    cache: Mutex<Option<HashMap<String, Vec<String>>>>,
}

impl Stems {
    pub(super) fn new() -> Self {
        let options = SqliteConnectOptions::new().in_memory(true);
        // Each connection has its own in-memory database, so there must be only one, and it must stay open.
        let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        Self { database: pool.connect_lazy_with(options), cache: Mutex::default() }
    }

    /// Returns the stem of a word, or several if the tokenizer splits it.
    pub(super) async fn find(&self, word: &str) -> Result<Vec<String>> {
        let mut cache = self.cache.lock().await;
        if cache.is_none() {
            for statement in [
                // The same tokenizer as in the first migration.
                "CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')",
                "CREATE VIRTUAL TABLE IF NOT EXISTS stem USING fts5vocab (word, 'instance')",
            ] {
                sqlx::query(statement).execute(&self.database).await.or_store_error()?;
            }
        }
        let cache = cache.get_or_insert_default();
        if let Some(stems) = cache.get(word) {
            return Ok(stems.clone());
        }
        for statement in ["DELETE FROM word", "INSERT INTO word (text) VALUES (?)"] {
            sqlx::query(statement).bind(word).execute(&self.database).await.or_store_error()?;
        }
        let stems: Vec<String> = sqlx::query_scalar("SELECT DISTINCT term FROM stem")
            .fetch_all(&self.database)
            .await
            .or_store_error()?;
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        cache.insert(word.to_owned(), stems.clone());
        Ok(stems)
    }

    pub(super) async fn close(&self) {
        self.database.close().await;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed test should panic")]

    use super::Stems;

    #[tokio::test]
    async fn stems_match_the_full_text_index() {
        let stems = Stems::new();
        for (word, expected) in
            [("barking", "bark"), ("Cafés", "cafe"), ("you", "you"), ("barking", "bark"), ("你好", "你好")]
        {
            assert_eq!(stems.find(word).await.unwrap(), [expected]);
        }
        assert_eq!(stems.find("it's 4").await.unwrap(), ["4", "it", "s"]);
        for text in ["", "?!", "\0"] {
            assert!(stems.find(text).await.unwrap().is_empty(), "{text:?}");
        }
    }
}
