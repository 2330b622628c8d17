//! `/embeddings`: the vectors of what was said.

use anstream::println;
use indicatif::{ProgressBar, ProgressStyle};
use memoir_core::{SubjectKind, WorkerKind};
use memoir_store::EmbeddingCount;
use memoir_workers::{Stopped, WorkerProgress, run_until_idle};

use super::{Next, RunCommand, summarizer};
use memoir_runtime::{
    failure::{Failure, FailureKind},
    worker_text,
};

use crate::app::App;

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
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let kind = WorkerKind::EmbeddingGenerator;
        match self.action {
            None => {}
            Some(Action::On) => summarizer::turn(&[kind], "on", app).await?,
            Some(Action::Off) => summarizer::turn(&[kind], "off", app).await?,
            Some(Action::Rebuild { confirmation: None }) => {
                println!(
                    "All vectors are deleted and made anew by {}; until that is done, what has none is found by its words. \
                     /embeddings rebuild yes does it.",
                    app.session.recall().embedder.name()
                );
                return Ok(Next::Prompt);
            }
            Some(Action::Rebuild { confirmation: Some(Confirmation::Yes) }) => rebuild(app).await?,
        }
        summarizer::show(kind, app).await?;
        show(app).await?;
        Ok(Next::Prompt)
    }
}

/// Who makes vectors, and how many there are.
async fn show(app: &App) -> Result<(), Failure> {
    let embedder = &app.session.recall().embedder;
    println!("Meaning is told by {}; /models set NAME embedder names another.", embedder.name());
    if !embedder.is_available() {
        println!("It cannot be called as things are set up, so that memory is searched by words alone.");
    }
    let counts = app.session.agent.store.embedding_counts().await?;
    let mut models: Vec<&str> = counts.iter().map(|known| known.model.as_str()).collect();
    models.dedup();
    for model in models {
        let of = |known: &EmbeddingCount| match known.kind {
            SubjectKind::Message => format!("{} of messages", known.count),
            SubjectKind::Chunk => format!("{} of documents", known.count),
            kind => format!("{} of {} summaries", known.count, kind.as_str()),
        };
        let vectors: Vec<String> = counts.iter().filter(|known| known.model == model).map(of).collect();
        let unused =
            if model == embedder.name() { "" } else { "; not used now, /embeddings rebuild deletes them" };
        println!("Vectors by {model}: {}{unused}.", vectors.join(", "));
    }
    Ok(())
}

/// Ctrl-C leaves the rest to the worker, or to the next start: the REPL lets the workers go on after it.
async fn rebuild(app: &App) -> Result<(), Failure> {
    if !app.session.recall().embedder.is_available() {
        return Err(Failure::new(
            FailureKind::Failed,
            format!("{} cannot be called", app.session.recall().embedder.name()),
        )
        .hint("Set its key, or /models set auto embedder for the compiled-in model."));
    }
    app.session.background.runner.pause().await;
    let outcome = make_anew(app).await;
    if !app.session.background.is_paused {
        app.session.background.runner.resume();
    }
    outcome
}

async fn make_anew(app: &App) -> Result<(), Failure> {
    let (store, office) = (&app.session.agent.store, app.session.background.context());
    let kind = WorkerKind::EmbeddingGenerator;
    if let Some(broke) = office.check_budget(kind).await? {
        return Err(Failure::new(FailureKind::Failed, worker_text::why(broke))
            .hint("The vectors were left as they are."));
    }
    store.delete_embeddings().await?;
    let bar = ProgressBar::new(store.pending(&office.claim(kind)).await?);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len}, {eta} left") {
        bar.set_style(style);
    }
    let mut told = |_: WorkerKind, progress: &WorkerProgress| {
        if let WorkerProgress::Worked { done, .. } = progress {
            bar.inc(done.len() as u64);
        }
    };
    let reports = run_until_idle(office, &[kind], &mut told).await?;
    bar.finish_and_clear();
    println!("{} vectors were made anew.", bar.position());
    let trouble = reports.into_iter().find_map(|report| match report.stopped {
        Some(Stopped::OverBudget(broke)) => Some(worker_text::why(broke).to_owned()),
        _ => report.last_error,
    });
    match trouble {
        Some(trouble) => Err(Failure::new(FailureKind::Failed, trouble)
            .hint("What is missing is made in the background; /worker status shows how that goes.")),
        None => Ok(()),
    }
}
