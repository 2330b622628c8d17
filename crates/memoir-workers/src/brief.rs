//! Limited background work for a program that is about to exit.

use std::time::Duration;

use memoir_core::{SubjectKind, WorkerKind};
use memoir_store::StoreError;

use crate::{
    WorkerContext, WorkerProgress,
    conversation_summarizer::summarize_next,
    embedding_generator::{EmbeddingGenerator, embed_next},
    run::{ReportBuilder, WorkerReport},
    worker::{BackgroundWorker as _, CurrentWork},
};

/// Writes the digests that conversations have requested. Jobs not finished within `time_limit` are released for another process.
pub async fn prepare_digests(context: &WorkerContext, time_limit: Duration) -> Result<(), StoreError> {
    let current = CurrentWork::default();
    let all = async {
        while has_made_progress(&summarize_next(context, Some(SubjectKind::Digest), &current).await?) {}
        Ok(())
    };
    run_within(context, WorkerKind::ConversationSummarizer, time_limit, &current, all).await
}

/// Embeds texts, newest first, for at most `time_limit`.
pub async fn embed_within(context: &WorkerContext, time_limit: Duration) -> Result<(), StoreError> {
    let current = CurrentWork::default();
    let all = async {
        while has_made_progress(&EmbeddingGenerator.step(context, &current).await?) {}
        Ok(())
    };
    run_within(context, WorkerKind::EmbeddingGenerator, time_limit, &current, all).await
}

/// Embeds the chunks of all documents. Calls `observe` after each batch.
pub async fn embed_documents(
    context: &WorkerContext,
    observe: &mut (dyn FnMut(&WorkerProgress) + Send),
) -> Result<WorkerReport, StoreError> {
    context.release_dead_leases().await?;
    let current = CurrentWork::default();
    let mut builder = ReportBuilder::new(WorkerKind::EmbeddingGenerator);
    loop {
        let progress = embed_next(context, Some(SubjectKind::Chunk), &current).await?;
        observe(&progress);
        if !builder.add(progress) {
            return Ok(builder.report);
        }
    }
}

fn has_made_progress(progress: &WorkerProgress) -> bool {
    matches!(progress, WorkerProgress::Worked { done, .. } if !done.is_empty())
}

/// Runs `work` for at most `time_limit`, then releases the jobs that it was processing.
async fn run_within(
    context: &WorkerContext,
    worker: WorkerKind,
    time_limit: Duration,
    current: &CurrentWork,
    work: impl Future<Output = Result<(), StoreError>>,
) -> Result<(), StoreError> {
    match tokio::time::timeout(time_limit, work).await {
        Ok(result) => result,
        Err(_) => context.jobs().release(worker, &current.get()).await,
    }
}
