//! `/worker`: how the background is getting on, and what to do about it.

use anstream::println;
use memoir_core::WorkerKind;
use memoir_runtime::{BackgroundReport, FailedJobs, Failure, printable, worker_text};
use memoir_store::Job;

use super::{Next, RunCommand};
use crate::{app::App, args::one_of};

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
        #[arg(value_name = "WORKER", value_parser = one_of(WorkerKind::ALL, WorkerKind::as_str))]
        worker: WorkerKind,
    },
    /// Stop a worker
    Stop {
        /// Worker to stop
        #[arg(value_name = "WORKER", value_parser = one_of(WorkerKind::ALL, WorkerKind::as_str))]
        worker: WorkerKind,
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
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        match self.action.unwrap_or(Action::Status) {
            Action::Status => show_status(&session.workers().await?),
            Action::Start { worker } => {
                session.start_worker(worker)?;
                println!("{} runs.", worker.as_str());
            }
            Action::Stop { worker } => {
                session.stop_worker(worker).await;
                println!("{} is stopped until it is started again.", worker.as_str());
            }
            Action::Pause => {
                session.pause_workers().await;
                println!("The workers wait; /worker resume lets them go on.");
            }
            Action::Resume => {
                session.resume_workers();
                println!("The workers go on.");
            }
            Action::Failures { job: None } => show_failures(&session.failed_jobs(MOST_SHOWN).await?),
            Action::Failures { job: Some(id) } => {
                let job = session.failed_job(id).await?;
                println!(
                    "worker    {}\nsubject   {}\nattempts  {}\nsince     {}\nerror     {}",
                    job.worker,
                    job.subject,
                    job.attempts,
                    job.updated.minute_in(session.runtime.zone()),
                    last_error(&job)
                );
            }
            Action::Retry { job } => println!("{} will be tried again.", session.retry_jobs(job).await?),
            Action::Purge { job } => println!(
                "{} given up: not tried again until a conversation grows or another model is set.",
                session.purge_jobs(job).await?
            ),
        }
        Ok(Next::Prompt)
    }
}

fn show_status(report: &BackgroundReport) {
    for worker in &report.workers {
        println!("{}", worker_text::status(&worker.status, worker.pending));
    }
    println!("spent today              {}", report.spent_today);
    if report.failed > 0 {
        println!("{} failed for good; /worker failures shows them.", report.failed);
    }
}

fn show_failures(failed: &FailedJobs) {
    if failed.jobs.is_empty() {
        println!("Nothing has failed for good.");
        return;
    }
    for job in &failed.jobs {
        let Job { id, worker, subject, attempts, .. } = job;
        println!("{id:>5}  {worker}, {subject}, {attempts} attempts: {}", last_error(job));
    }
    if failed.total > failed.jobs.len() as u64 {
        println!("These are the last {} of {}.", failed.jobs.len(), failed.total);
    }
    println!("\n/worker failures N shows one, /worker retry [N] tries again, /worker purge [N] gives it up.");
}

fn last_error(job: &Job) -> String {
    printable(job.last_error.as_deref().unwrap_or("unknown")).into_owned()
}
