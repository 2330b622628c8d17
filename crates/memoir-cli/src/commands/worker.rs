//! `/worker`: how the background is getting on, and what to do about it.

use anstream::println;
use memoir_core::WorkerKind;

use super::{Next, RunCommand};
use memoir_runtime::{
    failure::{Failure, FailureKind},
    printable, worker_text,
};

use crate::{app::App, completion_source::ValueSource};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show what each worker does
    Status,
    /// Start a worker
    Start {
        /// Worker to start
        #[arg(value_name = "WORKER", add = ValueSource::Workers)]
        worker: String,
    },
    /// Stop a worker
    Stop {
        /// Worker to stop
        #[arg(value_name = "WORKER", add = ValueSource::Workers)]
        worker: String,
    },
    /// Pause all workers
    Pause,
    /// Let all workers continue
    Resume,
    /// List the jobs that failed for good, or show one
    Failures {
        /// Job to show
        #[arg(value_name = "N")]
        job: Option<i64>,
    },
    /// Try failed jobs again: one, or all
    Retry {
        /// Job to try again
        #[arg(value_name = "N")]
        job: Option<i64>,
    },
    /// Give failed jobs up: one, or all
    Purge {
        /// Job to give up
        #[arg(value_name = "N")]
        job: Option<i64>,
    },
}

/// Maximum number of failures in the list.
const MOST_SHOWN: u32 = 20;

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        match self.action.unwrap_or(Action::Status) {
            Action::Status => status(app).await?,
            Action::Start { worker } => {
                let kind = named(&worker)?;
                let embedder = &app.session.recall().embedder;
                if kind == WorkerKind::EmbeddingGenerator && !embedder.is_available() {
                    return Err(Failure::new(
                        FailureKind::Failed,
                        format!("{} cannot be called", embedder.name()),
                    )
                    .hint("Set its key, or /models set auto embedder for the compiled-in model."));
                }
                app.session.background.runner.start(kind);
                println!("{} runs.", kind.as_str());
            }
            Action::Stop { worker } => {
                let kind = named(&worker)?;
                app.session.background.runner.stop(kind).await;
                println!("{} is stopped until it is started again.", kind.as_str());
            }
            Action::Pause => {
                app.session.background.is_paused = true;
                app.session.background.runner.pause().await;
                println!("The workers wait; /worker resume lets them go on.");
            }
            Action::Resume => {
                app.session.background.is_paused = false;
                app.session.background.runner.resume();
                println!("The workers go on.");
            }
            Action::Failures { job: None } => failures(app).await?,
            Action::Failures { job: Some(id) } => failure(id, app).await?,
            Action::Retry { job } => retry(job, app).await?,
            Action::Purge { job } => purge(job, app).await?,
        }
        Ok(Next::Prompt)
    }
}

fn named(name: &str) -> Result<WorkerKind, Failure> {
    let found = WorkerKind::ALL.into_iter().find(|kind| kind.as_str() == name);
    found.ok_or_else(|| {
        let names = WorkerKind::ALL.map(WorkerKind::as_str).join(", ");
        Failure::new(FailureKind::Usage, format!("there is no worker \"{name}\""))
            .hint(format!("There are {names}."))
    })
}

async fn status(app: &App) -> Result<(), Failure> {
    let (office, store) = (app.session.background.context(), &app.session.agent.store);
    for status in app.session.background.runner.statuses() {
        let pending = store.pending(&office.claim(status.worker)).await?;
        println!("{}", worker_text::status(&status, pending));
    }
    println!("spent today              {}", office.spent_today().await?);
    match store.failed_count().await? {
        0 => {}
        failed => println!("{failed} failed for good; /worker failures shows them."),
    }
    Ok(())
}

async fn failures(app: &App) -> Result<(), Failure> {
    let failed = app.session.agent.store.failed_jobs(MOST_SHOWN).await?;
    if failed.is_empty() {
        println!("Nothing has failed for good.");
        return Ok(());
    }
    for job in failed {
        println!(
            "{:>5}  {}, {}, {} attempts: {}",
            job.id,
            job.worker,
            job.subject,
            job.attempts,
            printable(job.last_error.as_deref().unwrap_or("unknown"))
        );
    }
    let all = app.session.agent.store.failed_count().await?;
    if all > u64::from(MOST_SHOWN) {
        println!("These are the last {MOST_SHOWN} of {all}.");
    }
    println!("\n/worker failures N shows one, /worker retry [N] tries again, /worker purge [N] gives it up.");
    Ok(())
}

async fn failure(id: i64, app: &App) -> Result<(), Failure> {
    let failed = app.session.agent.store.failed_jobs(u32::MAX).await?;
    let Some(job) = failed.into_iter().find(|job| job.id == id) else {
        return Err(Failure::new(FailureKind::Usage, format!("there is no failed job {id}"))
            .hint("/worker failures lists them."));
    };
    println!(
        "worker    {}\nsubject   {}\nattempts  {}\nsince     {}\nerror     {}",
        job.worker,
        job.subject,
        job.attempts,
        job.updated.minute_in(app.session.runtime.zone()),
        printable(job.last_error.as_deref().unwrap_or("unknown"))
    );
    Ok(())
}

async fn retry(id: Option<i64>, app: &App) -> Result<(), Failure> {
    let retried = app.session.agent.store.retry_jobs(id, app.session.agent.clock.now()).await?;
    app.session.background.runner.hurry();
    println!("{retried} will be tried again.");
    Ok(())
}

async fn purge(id: Option<i64>, app: &App) -> Result<(), Failure> {
    let purged = app.session.agent.store.purge_jobs(id).await?;
    println!("{purged} given up: not tried again until a conversation grows or another model is set.");
    Ok(())
}
