//! `/docs`: documents that are remembered.

use std::path::PathBuf;

use memoir_core::WorkerKind;

use super::{Next, RunCommand};
use memoir_runtime::Failure;

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
        let changes = matches!(self.command, Some(DocsCommand::Add { .. } | DocsCommand::Reindex { .. }));
        let command = match self.command.unwrap_or(DocsCommand::List { json: false }) {
            DocsCommand::Add { paths } => DocsCommand::Add { paths: with_spaces(paths) },
            command => command,
        };
        let outcome = documents::run(command, recall, app.session.runtime.home(), embedding).await;
        if changes {
            app.session.background.runner.wake();
        }
        outcome.map(|()| Next::Prompt)
    }
}

/// One path with spaces in it may be typed without quotation marks.
fn with_spaces(words: Vec<PathBuf>) -> Vec<PathBuf> {
    let typed: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let whole = PathBuf::from(typed.join(" "));
    if whole.exists() { vec![whole] } else { words }
}
