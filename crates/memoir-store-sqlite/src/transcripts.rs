//! SQL for the files of other programs that Memoir follows.

use async_trait::async_trait;
use memoir_core::Timestamp;
use memoir_store::{Result, Transcript, Transcripts};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::{SqliteStore, error::SqlResultExt as _, rows::to_signed};

#[async_trait]
impl Transcripts for SqliteStore {
    async fn transcript_state(&self, path: &str) -> Result<Option<Transcript>> {
        sqlx::query("SELECT * FROM transcripts WHERE path = ?")
            .bind(path)
            .try_map(|row: SqliteRow| {
                Ok(Transcript {
                    path: row.try_get("path")?,
                    size: row.try_get("size")?,
                    modified: Timestamp::from_millis(row.try_get("modified")?),
                })
            })
            .fetch_optional(&self.readers)
            .await
            .or_store_error()
    }

    async fn put_transcript(&self, transcript: &Transcript) -> Result<()> {
        sqlx::query(
            "INSERT INTO transcripts (path, size, modified) VALUES (?, ?, ?)
             ON CONFLICT DO UPDATE SET size = excluded.size, modified = excluded.modified",
        )
        .bind(&transcript.path)
        .bind(to_signed(transcript.size))
        .bind(transcript.modified.as_millis())
        .execute(self.writer().await?)
        .await
        .or_store_error()?;
        Ok(())
    }
}
