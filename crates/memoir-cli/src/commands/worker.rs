//! `/worker`: shows and controls the background workers.

use memoir_core::WorkerKind;
use memoir_runtime::{BackgroundReport, FailedJobs, Failure, printable, worker_text};
use memoir_store::Job;

use super::{Next, RunCommand};
use crate::{app::App, args::one_of, render::pluralize};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the status of each worker
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
    /// Resume all workers
    Resume,
    /// List the jobs that failed permanently, or show one
    Failures {
        /// Job to show
        #[arg(value_name = "N")]
        job: Option<i64>,
    },
    /// Retry failed jobs
    Retry {
        /// Job to retry; defaults to all
        #[arg(value_name = "N")]
        job: Option<i64>,
    },
    /// Discard failed jobs
    Purge {
        /// Job to discard; defaults to all
        #[arg(value_name = "N")]
        job: Option<i64>,
    },
}

const MAX_LISTED_FAILURES: u32 = 20;

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        match self.action.unwrap_or(Action::Status) {
            Action::Status => show_status(&session.workers().await?),
            Action::Start { worker } => {
                session.start_worker(worker)?;
                say!("Started {}.", worker.as_str());
            }
            Action::Stop { worker } => {
                session.stop_worker(worker).await;
                say!("Stopped {}.", worker.as_str());
            }
            Action::Pause => {
                session.pause_workers().await;
                say!("Paused all workers. Resume with `/worker resume`.");
            }
            Action::Resume => {
                session.resume_workers();
                say!("Resumed all workers.");
            }
            Action::Failures { job: None } => show_failures(&session.failed_jobs(MAX_LISTED_FAILURES).await?),
            Action::Failures { job: Some(id) } => {
                let job = session.failed_job(id).await?;
                say!(
                    "worker    {}\nsubject   {}\nattempts  {}\nsince     {}\nerror     {}",
                    job.worker,
                    job.subject,
                    job.attempts,
                    job.updated.format_minute(session.runtime.zone()),
                    last_error(&job)
                );
            }
            Action::Retry { job } => say!("Retrying {}.", jobs(session.retry_jobs(job).await?)),
            Action::Purge { job } => say!(
                "Discarded {}. No retry until the conversation grows or the model changes.",
                jobs(session.purge_jobs(job).await?)
            ),
        }
        Ok(Next::Prompt)
    }
}

fn show_status(report: &BackgroundReport) {
    for worker in &report.workers {
        say!("{}", worker_text::format_status(&worker.status, worker.pending));
    }
    say!("spent today              {}", report.spent_today);
    if report.failed > 0 {
        say!("{} failed permanently. List with `/worker failures`.", jobs(report.failed));
    }
}

fn show_failures(failed: &FailedJobs) {
    if failed.jobs.is_empty() {
        say!("No jobs have failed permanently.");
        return;
    }
    for job in &failed.jobs {
        let Job { id, worker, subject, attempts, .. } = job;
        let attempts = pluralize(u64::from(*attempts), "attempt", "attempts");
        say!("{id:>5}  {worker}, {subject}, {attempts}: {}", last_error(job));
    }
    if failed.total > failed.jobs.len() as u64 {
        say!("Showing the latest {} of {}.", failed.jobs.len(), failed.total);
    }
    say!(
        "\nShow a job with `/worker failures N`, retry with `/worker retry [N]`, discard with `/worker purge [N]`."
    );
}

fn jobs(count: u64) -> String {
    pluralize(count, "job", "jobs")
}

fn last_error(job: &Job) -> String {
    printable(job.last_error.as_deref().unwrap_or("unknown")).into_owned()
}
