//! `memoir docs`.

use memoir_core::WorkerKind;
use memoir_runtime::failure::Failure;
use memoir_workers::WorkerContext;

use super::CommandContext;
use crate::{
    args::DocsCommand,
    documents::{self, Embedding},
};

pub(super) async fn run(command: DocsCommand, context: &CommandContext) -> Result<(), Failure> {
    let home = context.runtime.home();
    let settings = context.runtime.worker_settings().await?;
    let recall = context.recall().await?;
    let office = WorkerContext::new(recall.clone(), None, settings.daily_budget());
    let embedding = match settings.is_on(WorkerKind::EmbeddingGenerator) {
        true => Embedding::Here(&office),
        false => Embedding::Off,
    };
    documents::run(command, &recall, home, embedding).await
}
