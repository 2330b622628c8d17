//! `/embeddings`: the vectors of what was said.

use anstream::println;
use async_trait::async_trait;
use indicatif::{ProgressBar, ProgressStyle};
use memoir_core::WorkerKind;

use super::{Command, Next, summarizer};
use crate::{
    app::App,
    failure::{Failure, Kind},
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
                    "All vectors of {} are made anew; until that is done, what has none is found by its words. \
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
        let on = if app.worker_settings.is_on(WorkerKind::EmbeddingGenerator) { "on" } else { "off" };
        println!("{:<24} {on}", WorkerKind::EmbeddingGenerator.as_str());
        println!("{} messages wait for their vectors.", app.recall().waiting().await?);
        Ok(Next::Prompt)
    }
}

/// Ctrl-C leaves the rest to the worker, or to the next start.
async fn rebuild(app: &App) -> Result<(), Failure> {
    let recall = app.recall();
    app.workers.pause().await;
    let made_anew = async {
        app.agent.store.delete_embeddings(recall.embedder.name()).await?;
        let bar = ProgressBar::new(recall.waiting().await?);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len}, {eta} left") {
            bar.set_style(style);
        }
        loop {
            match recall.embed_next().await? {
                0 => break,
                done => bar.inc(done as u64),
            }
        }
        bar.finish_and_clear();
        println!("{} vectors were made anew.", bar.position());
        Ok::<(), Failure>(())
    };
    let outcome = made_anew.await;
    if !app.workers_paused {
        app.workers.resume();
    }
    outcome
}
