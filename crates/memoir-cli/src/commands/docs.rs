//! `/docs`: lists, shows, adds, removes and reindexes documents.

use std::path::PathBuf;

use memoir_core::WorkerKind;

use super::{Next, RunCommand};
use memoir_runtime::{Failure, operations::documents::assign_projects};

use crate::{
    app::App,
    args::DocsCommand,
    documents::{self, Embedding},
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<DocsCommand>,
}

impl RunCommand for Arguments {
    const NEEDS_MEMORY: bool = true;

    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let recall = app.session.recall();
        let embedding = match app.session.background.settings.is_on(WorkerKind::EmbeddingGenerator) {
            true => Embedding::InBackground,
            false => Embedding::Off,
        };
        let adds_chunks = matches!(self.command, Some(DocsCommand::Add { .. } | DocsCommand::Reindex { .. }));
        let command = match self.command.unwrap_or(DocsCommand::List { json: false }) {
            DocsCommand::Add { paths } => DocsCommand::Add { paths: join_if_path(paths) },
            command => command,
        };
        let outcome = documents::run(command, recall, app.session.runtime.home(), embedding).await;
        if adds_chunks {
            let runtime = &app.session.runtime;
            assign_projects(runtime.store().as_ref(), |directory| runtime.find_scope(directory)).await?;
            app.session.background.runner.wake();
        }
        outcome.map(|()| Next::Prompt)
    }
}

/// Joins the words if they form one existing path, so that a path with spaces needs no quotation marks.
fn join_if_path(words: Vec<PathBuf>) -> Vec<PathBuf> {
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let path = PathBuf::from(texts.join(" "));
    if path.exists() { vec![path] } else { words }
}
