//! `/embeddings`: the vectors of what was said.

use anstream::println;
use async_trait::async_trait;
use indicatif::{ProgressBar, ProgressStyle};
use memoir_core::{SubjectKind, WorkerKind};
use memoir_store::EmbeddingCount;
use memoir_workers::{Stopped, WorkerProgress, run_until_idle};

use super::{Command, Next, summarizer};
use crate::{
    app::App,
    failure::{Failure, Kind},
    worker_view,
};

pub(super) struct Embeddings;

#[async_trait]
impl Command for Embeddings {
    fn name(&self) -> &'static str {
        "embeddings"
    }

    fn arguments(&self) -> &'static str {
        "[on | off | rebuild [yes]]"
    }

    fn summary(&self) -> &'static str {
        "Whether messages get their vectors; make all of them anew."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            [switch @ ("on" | "off")] => {
                summarizer::turn(&[WorkerKind::EmbeddingGenerator], switch, app).await?;
            }
            ["rebuild"] => {
                println!(
                    "All vectors are deleted and made anew by {}; until that is done, what has none is found by its words. \
                     /embeddings rebuild yes does it.",
                    app.recall().embedder.name()
                );
                return Ok(Next::Prompt);
            }
            ["rebuild", "yes"] => rebuild(app).await?,
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/embeddings {arguments} is not understood"))
                    .hint("Use /embeddings, /embeddings on, /embeddings off or /embeddings rebuild."));
            }
        }
        summarizer::show(WorkerKind::EmbeddingGenerator, app).await?;
        show(app).await?;
        Ok(Next::Prompt)
    }
}

/// Who makes vectors, and how many there are.
async fn show(app: &App) -> Result<(), Failure> {
    let embedder = &app.recall().embedder;
    println!("Meaning is told by {}; /models set NAME embedder names another.", embedder.name());
    if !embedder.is_available() {
        println!("It cannot be called as things are set up, so that memory is searched by words alone.");
    }
    let counts = app.agent.store.embedding_counts().await?;
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
    if !app.recall().embedder.is_available() {
        return Err(Failure::new(Kind::Failed, format!("{} cannot be called", app.recall().embedder.name()))
            .hint("Set its key, or /models set auto embedder for the compiled-in model."));
    }
    app.workers.pause().await;
    let outcome = make_anew(app).await;
    if !app.workers_paused {
        app.workers.resume();
    }
    outcome
}

async fn make_anew(app: &App) -> Result<(), Failure> {
    let (store, office) = (&app.agent.store, app.workers.context());
    let kind = WorkerKind::EmbeddingGenerator;
    if let Some(broke) = office.check_budget(kind).await? {
        return Err(
            Failure::new(Kind::Failed, worker_view::why(broke)).hint("The vectors were left as they are.")
        );
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
        Some(Stopped::OverBudget(broke)) => Some(worker_view::why(broke).to_owned()),
        _ => report.last_error,
    });
    match trouble {
        Some(trouble) => Err(Failure::new(Kind::Failed, trouble)
            .hint("What is missing is made in the background; /worker status shows how that goes.")),
        None => Ok(()),
    }
}
