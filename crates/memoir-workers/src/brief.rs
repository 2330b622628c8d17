//! A little work at the end of a program that answers once: what the next one would miss.

use std::time::Duration;

use memoir_core::{SubjectKind, WorkerKind};
use memoir_store::StoreError;

use crate::{
    Office, Progress,
    conversation_summarizer::summarise_next,
    embedding_generator::EmbeddingGenerator,
    worker::{Current, Worker as _},
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
