//! Files of other programs that Memoir follows as they grow.

use async_trait::async_trait;
use memoir_core::Timestamp;

use crate::Result;

/// A state of a file whose content is in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Path of the file.
    pub path: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// When the file was modified.
    pub modified: Timestamp,
}

/// Remembers which states of files were imported, so that unchanged files are not read again.
#[async_trait]
pub trait Transcripts: Send + Sync {
    /// Returns the state of a file that was last imported, or `None` if it never was.
    async fn transcript_state(&self, path: &str) -> Result<Option<Transcript>>;

    /// Remembers the state of a file, in place of an earlier one.
    async fn put_transcript(&self, transcript: &Transcript) -> Result<()>;
}
