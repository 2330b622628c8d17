//! `/embeddings`: the vectors of what was said.

use anstream::println;
use memoir_core::{SubjectKind, WorkerKind};
use memoir_runtime::{EmbeddingsReport, Failure, Session};

use super::{Next, RunCommand, summarizer};
use crate::{app::App, progress::ProgressBars};

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
    /// Delete all vectors and make them again
    Rebuild {
        /// Do it, instead of saying what it would do
        confirmation: Option<Confirmation>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Confirmation {
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
                println!(
                    "All vectors are deleted and made anew by {}; until that is done, what has none is found by its words. \
                     /embeddings rebuild yes does it.",
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
    println!("{} vectors were made anew.", report.made);
    report.check_complete()
}

fn show(report: &EmbeddingsReport) {
    println!("Meaning is told by {}; /models set NAME embedder names another.", report.embedder);
    if !report.is_available {
        println!("It cannot be called as things are set up, so that memory is searched by words alone.");
    }
    for vectors in &report.models {
        let describe = |(kind, count): &(SubjectKind, u64)| match kind {
            SubjectKind::Message => format!("{count} of messages"),
            SubjectKind::Chunk => format!("{count} of documents"),
            kind => format!("{count} of {} summaries", kind.as_str()),
        };
        let counts: Vec<String> = vectors.counts.iter().map(describe).collect();
        let unused = if vectors.is_used { "" } else { "; not used now, /embeddings rebuild deletes them" };
        println!("Vectors by {}: {}{unused}.", vectors.model, counts.join(", "));
    }
}
