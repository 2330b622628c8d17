//! `memoir docs`.

use std::{
    io::{Write as _, stdout},
    sync::Arc,
};

use memoir_core::{TimeZone, WorkerKind};
use memoir_store::Store;
use memoir_workers::{WorkerContext, WorkerSettings};
use serde_json::json;

use crate::{
    args::DocsCommand,
    documents::{self, Embedding},
    failure::Failure,
    home::Home,
    models::Models,
    recall, settings,
};

pub(super) async fn run(
    command: DocsCommand,
    models: &Models,
    store: Arc<dyn Store>,
    zone: &TimeZone,
    home: &Home,
) -> Result<(), Failure> {
    let settings: WorkerSettings = settings::read(&models.config, "workers", store.as_ref()).await?;
    let recall = recall::recall(Arc::clone(&store), models, zone, None).await?;
    let office = WorkerContext::new(recall.clone(), None, settings.daily_budget());
    let embedding = match settings.is_on(WorkerKind::EmbeddingGenerator) {
        true => Embedding::Here(&office),
        false => Embedding::Off,
    };
    match command {
        DocsCommand::Add { paths } => documents::add(&paths, &recall, embedding).await,
        DocsCommand::List { json: false } => print(&documents::list(store.as_ref()).await?),
        DocsCommand::List { json: true } => print(&json!(store.documents().await?).to_string()),
        DocsCommand::Show { name, json: false } => print(&documents::show(&name, &recall).await?),
        DocsCommand::Show { name, json: true } => {
            let document = documents::find(&name, store.as_ref()).await?;
            let chunks = store.chunks_of(document.id).await?;
            print(&json!({"document": document, "chunks": chunks}).to_string())
        }
        DocsCommand::Remove { names } => documents::remove(&names, &recall, &home.posts()).await,
        DocsCommand::Reindex { names } => documents::reindex(&names, &recall, embedding).await,
    }
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(writeln!(stdout(), "{text}")?)
}
