//! Embedding the chunks of documents in the foreground.

use memoir_core::SubjectKind;
use memoir_recall::Recall;
use memoir_workers::{WorkerContext, embed_documents};
use serde::Serialize;

use crate::{
    failure::Failure,
    operations::{Progress, ProgressUnit, workers::WorkerStop},
};

/// Returns the number of chunks that have no embedding yet.
pub async fn count_unembedded(recall: &Recall) -> Result<u64, Failure> {
    Ok(recall.store.unembedded_count(SubjectKind::Chunk, &recall.embeddable()).await?)
}

/// Result of embedding chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmbedReport {
    /// Number of chunks that were embedded.
    pub done: u64,
    /// Number of chunks that failed.
    pub failed: u64,
    /// Most recent error, if any chunk failed.
    pub last_error: Option<String>,
    /// Why embedding stopped early, if it did.
    pub stopped: Option<WorkerStop>,
}

/// Embeds all chunks that have no embedding yet.
pub async fn embed(
    context: &WorkerContext,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<EmbedReport, Failure> {
    let mut done = 0;
    let total = Some(count_unembedded(&context.recall).await?);
    progress(Progress { unit: ProgressUnit::Chunks, done, total });
    let mut count_chunks = |step: &memoir_workers::WorkerProgress| {
        if let memoir_workers::WorkerProgress::Worked { done: chunks, .. } = step {
            done += chunks.len() as u64;
            progress(Progress { unit: ProgressUnit::Chunks, done, total });
        }
    };
    let report = embed_documents(context, &mut count_chunks).await?;
    Ok(EmbedReport {
        done: report.done,
        failed: report.failed,
        last_error: report.last_error,
        stopped: report.stopped.map(WorkerStop::from),
    })
}
