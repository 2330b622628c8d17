//! Finds the stems of words as the full-text index stores them.
//!
//! SQLite has no function that stems a word. Therefore words are added to a separate in-memory FTS5 index, from which
//! their stems are read back.

use std::collections::HashMap;

use memoir_store::{Result, StoreError};
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

    /// Returns the stem of each word, or several if the tokenizer splits it.
    pub(super) async fn find(&self, words: &[String]) -> Result<Vec<Vec<String>>> {
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
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        let unknown: Vec<&String> = words.iter().filter(|word| !cache.contains_key(*word)).collect();
        if !unknown.is_empty() {
            let list = serde_json::to_string(&unknown).map_err(|error| StoreError::Other(error.into()))?;
            for statement in
                ["DELETE FROM word", "INSERT INTO word (rowid, text) SELECT key, value FROM json_each(?)"]
            {
                sqlx::query(statement).bind(&list).execute(&self.database).await.or_store_error()?;
            }
            let found: Vec<(i64, String)> =
                sqlx::query_as("SELECT DISTINCT doc, term FROM stem ORDER BY doc, term")
                    .fetch_all(&self.database)
                    .await
                    .or_store_error()?;
            for (position, word) in (0..).zip(unknown) {
                let stems = found.iter().filter(|(doc, _)| *doc == position).map(|(_, stem)| stem.clone());
                cache.insert(word.clone(), stems.collect());
            }
        }
        Ok(words.iter().map(|word| cache.get(word).cloned().unwrap_or_default()).collect())
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
        for (text, expected) in [
            ("barking", vec!["bark"]),
            ("Cafés", vec!["cafe"]),
            ("you", vec!["you"]),
            ("barking", vec!["bark"]),
            ("你好", vec!["你好"]),
            ("it's 4", vec!["4", "it", "s"]),
            ("", vec![]),
            ("?!", vec![]),
            ("\0", vec![]),
        ] {
            assert_eq!(stems.find(&[text.to_owned()]).await.unwrap(), [expected], "{text:?}");
        }
        let words = ["was", "", "it's", "barking", "running"].map(str::to_owned);
        let expected = [vec!["wa"], vec![], vec!["it", "s"], vec!["bark"], vec!["run"]];
        assert_eq!(stems.find(&words).await.unwrap(), expected);
    }
}
