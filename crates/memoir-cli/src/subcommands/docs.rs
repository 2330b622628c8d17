//! `memoir docs`.

use memoir_core::WorkerKind;
use memoir_runtime::{Failure, Runtime};
use memoir_workers::WorkerContext;

use super::recall;
use crate::{
    args::DocsCommand,
    documents::{self, Embedding},
};

pub(super) async fn run(command: DocsCommand, runtime: &Runtime) -> Result<(), Failure> {
    let settings = runtime.worker_settings(&mut Vec::new()).await?;
    let recall = recall(runtime).await?;
    let workers = WorkerContext::new(runtime.store().clone(), recall.clone(), None, settings.daily_budget());
    let embedding = match settings.is_on(WorkerKind::EmbeddingGenerator) {
        true => Embedding::Here(&workers),
        false => Embedding::Off,
    };
    documents::run(command, &recall, runtime.home(), embedding).await
}
