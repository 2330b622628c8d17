//! `memoir docs`: manages documents.

use memoir_core::WorkerKind;
use memoir_runtime::{Failure, Runtime, operations::documents::assign_projects};
use memoir_workers::WorkerContext;

use super::{print_notices, recall};
use crate::{
    args::DocsCommand,
    documents::{self, Embedding},
};

pub(super) async fn run(command: DocsCommand, runtime: &Runtime) -> Result<(), Failure> {
    let mut notices = Vec::new();
    let settings = runtime.worker_settings(&mut notices).await?;
    print_notices(&notices);
    let recall = recall(runtime).await?;
    let workers = WorkerContext::new(runtime.store().clone(), recall.clone(), None, settings.daily_budget());
    let embedding = match settings.is_on(WorkerKind::EmbeddingGenerator) {
        true => Embedding::Immediate(&workers),
        false => Embedding::Off,
    };
    let outcome = documents::run(command, &recall, runtime.home(), embedding).await;
    assign_projects(runtime.store().as_ref(), |directory| runtime.find_scope(directory)).await?;
    outcome
}
