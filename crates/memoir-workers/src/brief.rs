//! Some of the work and no more: what the next program would miss, what someone waits for.

use std::time::Duration;

use memoir_core::{SubjectKind, WorkerKind};
use memoir_store::StoreError;

use crate::{
    Office, Progress,
    conversation_summarizer::summarise_next,
    embedding_generator::{EmbeddingGenerator, embed_next},
    worker::{Current, Report, Tally, Worker as _},
};

/// Makes the summaries that conversations ask for, and does nothing else. What takes longer than `patience` is left to another.
pub async fn prepare_digests(office: &Office, patience: Duration) -> Result<(), StoreError> {
    let current = Current::default();
    let all = async {
        while did_something(&summarise_next(office, Some(SubjectKind::Digest), &current).await?) {}
        Ok(())
    };
    within(office, WorkerKind::ConversationSummarizer, patience, &current, all).await
}

/// Gives texts their vectors, the newest first, as far as that goes in so long.
pub async fn embed_for_a_while(office: &Office, patience: Duration) -> Result<(), StoreError> {
    let current = Current::default();
    let all = async {
        while did_something(&EmbeddingGenerator.step(office, &current).await?) {}
        Ok(())
    };
    within(office, WorkerKind::EmbeddingGenerator, patience, &current, all).await
}

/// Gives the chunks of documents their vectors, all of them, and tells how that goes.
pub async fn embed_documents(
    office: &Office,
    told: &mut (dyn FnMut(&Progress) + Send),
) -> Result<Report, StoreError> {
    office.take_back_from_the_dead().await?;
    let current = Current::default();
    let mut tally = Tally::new(WorkerKind::EmbeddingGenerator);
    loop {
        let progress = embed_next(office, Some(SubjectKind::Chunk), &current).await?;
        told(&progress);
        if !tally.add(progress) {
            return Ok(tally.report);
        }
    }
}

fn did_something(progress: &Progress) -> bool {
    matches!(progress, Progress::Worked { done, .. } if !done.is_empty())
}

async fn within(
    office: &Office,
    worker: WorkerKind,
    patience: Duration,
    current: &Current,
    work: impl Future<Output = Result<(), StoreError>>,
) -> Result<(), StoreError> {
    match tokio::time::timeout(patience, work).await {
        Ok(done) => done,
        Err(_) => office.store.release(worker, &current.get()).await,
    }
}
