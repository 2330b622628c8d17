//! Gives messages their vectors, in batches.

use async_trait::async_trait;
use memoir_core::WorkerKind;
use memoir_recall::RecallError;
use memoir_store::StoreError;

use crate::{
    Office,
    worker::{Current, Progress, Worker},
};

pub(crate) struct EmbeddingGenerator;

#[async_trait]
impl Worker for EmbeddingGenerator {
    fn kind(&self) -> WorkerKind {
        WorkerKind::EmbeddingGenerator
    }

    fn waits_for_a_signal(&self) -> bool {
        true
    }

    async fn step(&self, office: &Office, _current: &Current) -> Result<Progress, StoreError> {
        match embed(office).await {
            Ok(0) => Ok(Progress::Idle),
            Ok(_) => Ok(Progress::Done),
            Err(RecallError::Store(error)) => Err(error),
            // The next run tries again; nothing of the batch was stored.
            Err(_) => Ok(Progress::Idle),
        }
    }
}

/// One batch. Whether there is any is known without reading all messages.
async fn embed(office: &Office) -> Result<usize, RecallError> {
    match office.recall.waiting().await? {
        0 => Ok(0),
        _ => office.recall.embed_next().await,
    }
}
