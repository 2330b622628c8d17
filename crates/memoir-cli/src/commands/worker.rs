//! `/worker`: how the background is getting on, and what to do about it.

use anstream::println;
use async_trait::async_trait;
use memoir_core::WorkerKind;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    printable::printable,
    worker_view,
};

pub(super) struct Worker;

/// So many failures are shown.
const MOST_SHOWN: u32 = 20;

#[async_trait]
impl Command for Worker {
    fn name(&self) -> &'static str {
        "worker"
    }

    fn arguments(&self) -> &'static str {
        "[status | start WORKER | stop WORKER | pause | resume | failures [N] | retry [N] | purge [N]]"
    }

    fn summary(&self) -> &'static str {
        "Show who works in the background, start, stop, try again."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        match words.as_slice() {
            [] | ["status"] => status(app).await?,
            ["start", name] => {
                let kind = named(name)?;
                let embedder = &app.recall().embedder;
                if kind == WorkerKind::EmbeddingGenerator && !embedder.is_available() {
                    return Err(Failure::new(Kind::Failed, format!("{} cannot be called", embedder.name()))
                        .hint("Set its key, or /models set auto embedder for the compiled-in model."));
                }
                app.workers.start(kind);
                println!("{} runs.", kind.as_str());
            }
            ["stop", name] => {
                let kind = named(name)?;
                app.workers.stop(kind).await;
                println!("{} is stopped until it is started again.", kind.as_str());
            }
            ["pause"] => {
                app.workers_paused = true;
                app.workers.pause().await;
                println!("The workers wait; /worker resume lets them go on.");
            }
            ["resume"] => {
                app.workers_paused = false;
                app.workers.resume();
                println!("The workers go on.");
            }
            ["failures"] => failures(app).await?,
            ["failures", number] => failure(parse(number)?, app).await?,
            ["retry"] => retry(None, app).await?,
            ["retry", number] => retry(Some(parse(number)?), app).await?,
            ["purge"] => purge(None, app).await?,
            ["purge", number] => purge(Some(parse(number)?), app).await?,
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/worker {arguments} is not understood"))
                    .hint("/help worker shows how it is used."));
            }
        }
        Ok(Next::Prompt)
    }
}

fn named(name: &str) -> Result<WorkerKind, Failure> {
    let found = WorkerKind::ALL.into_iter().find(|kind| kind.as_str() == name);
    found.ok_or_else(|| {
        let names = WorkerKind::ALL.map(WorkerKind::as_str).join(", ");
        Failure::new(Kind::Usage, format!("there is no worker \"{name}\""))
            .hint(format!("There are {names}."))
    })
}

fn parse(number: &str) -> Result<i64, Failure> {
    number.parse().map_err(|_| {
        Failure::new(Kind::Usage, format!("\"{number}\" is no job's number"))
            .hint("/worker failures lists them.")
    })
}

async fn status(app: &App) -> Result<(), Failure> {
    let (office, store) = (app.workers.context(), &app.agent.store);
    for status in app.workers.statuses() {
        let pending = store.pending(&office.claim(status.worker)).await?;
        println!("{}", worker_view::status(&status, pending));
    }
    println!("spent today              {}", office.spent_today().await?);
    match store.failed_count().await? {
        0 => {}
        failed => println!("{failed} failed for good; /worker failures shows them."),
    }
    Ok(())
}

async fn failures(app: &App) -> Result<(), Failure> {
    let failed = app.agent.store.failed_jobs(MOST_SHOWN).await?;
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
    let all = app.agent.store.failed_count().await?;
    if all > u64::from(MOST_SHOWN) {
        println!("These are the last {MOST_SHOWN} of {all}.");
    }
    println!("\n/worker failures N shows one, /worker retry [N] tries again, /worker purge [N] gives it up.");
    Ok(())
}

async fn failure(id: i64, app: &App) -> Result<(), Failure> {
    let failed = app.agent.store.failed_jobs(u32::MAX).await?;
    let Some(job) = failed.into_iter().find(|job| job.id == id) else {
        return Err(Failure::new(Kind::Usage, format!("there is no failed job {id}"))
            .hint("/worker failures lists them."));
    };
    println!(
        "worker    {}\nsubject   {}\nattempts  {}\nsince     {}\nerror     {}",
        job.worker,
        job.subject,
        job.attempts,
        job.updated.minute_in(&app.zone),
        printable(job.last_error.as_deref().unwrap_or("unknown"))
    );
    Ok(())
}

async fn retry(id: Option<i64>, app: &App) -> Result<(), Failure> {
    let retried = app.agent.store.retry_jobs(id, app.agent.clock.now()).await?;
    app.workers.hurry();
    println!("{retried} will be tried again.");
    Ok(())
}

async fn purge(id: Option<i64>, app: &App) -> Result<(), Failure> {
    let purged = app.agent.store.purge_jobs(id).await?;
    println!("{purged} given up: not tried again until a conversation grows or another model is set.");
    Ok(())
}
