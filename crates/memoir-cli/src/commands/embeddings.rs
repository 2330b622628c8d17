//! `/embeddings`: shows and rebuilds embeddings, and switches embedding on or off.

use memoir_core::{SubjectKind, WorkerKind};
use memoir_runtime::{EmbeddingsReport, Failure, Session};

use super::{Next, RunCommand, summarizer};
use crate::{app::App, progress::ProgressBars, render::pluralize};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Embed new messages from now on
    On,
    /// Stop embedding messages
    Off,
    /// Delete all embeddings and compute them again
    Rebuild {
        /// Confirm; without it, only show what would happen
        confirmation: Option<Confirmation>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Confirmation {
    /// Rebuild now
    Yes,
}

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        let kind = WorkerKind::EmbeddingGenerator;
        match self.action {
            None => {}
            Some(Action::On) => session.switch_workers(&[kind], true).await?,
            Some(Action::Off) => session.switch_workers(&[kind], false).await?,
            Some(Action::Rebuild { confirmation: None }) => {
                say!(
                    "This will delete all embeddings and compute them again with {}. Until that is done, messages without \
                     an embedding can be found by keyword only. Confirm with `/embeddings rebuild yes`.",
                    session.recall().embedder.name()
                );
                return Ok(Next::Prompt);
            }
            Some(Action::Rebuild { confirmation: Some(Confirmation::Yes) }) => rebuild(session).await?,
        }
        summarizer::show(&[kind], session).await?;
        show(&session.embeddings().await?);
        Ok(Next::Prompt)
    }
}

async fn rebuild(session: &Session) -> Result<(), Failure> {
    let mut bars = ProgressBars::default();
    let report = session.rebuild_embeddings(&mut |progress| bars.show(progress)).await?;
    drop(bars);
    say!("Rebuilt {}.", pluralize(report.computed, "embedding", "embeddings"));
    report.check_complete()
}

fn show(report: &EmbeddingsReport) {
    say!("Embedding model: {}. Change it with `/models set NAME embedder`.", report.embedder);
    if !report.is_available {
        say!("The model is not available, so memory is searched by keyword only.");
    }
    for embeddings in &report.models {
        let describe = |(kind, count): &(SubjectKind, u64)| match kind {
            SubjectKind::Message => format!("{count} of messages"),
            SubjectKind::Chunk => format!("{count} of documents"),
            kind => format!("{count} of {} summaries", kind.as_str()),
        };
        let counts: Vec<String> = embeddings.counts.iter().map(describe).collect();
        let note = if embeddings.is_used { "" } else { "; unused, delete with `/embeddings rebuild`" };
        say!("Embeddings by {}: {}{note}.", embeddings.model, counts.join(", "));
    }
}
