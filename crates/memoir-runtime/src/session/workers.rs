//! Reports on and controls the workers of a session.

use std::time::Duration;

use memoir_core::{SubjectKind, Usd, WorkerKind};
use memoir_store::Job;
use memoir_workers::{WorkerProgress, WorkerStatus, WorkerStopReason, run_until_idle};
use serde::Serialize;

use super::Session;
use crate::{
    care, copies,
    failure::Failure,
    operations::{Progress, ProgressUnit},
    persistence::Persistence,
    worker_text,
};

/// Maximum time that a program waits for a check and a backup after its last turn.
const MAX_CARE: Duration = Duration::from_secs(10);

/// The state of one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerProgressReport {
    /// Whether the worker is enabled.
    pub is_on: bool,
    /// Activity and counts of the worker.
    #[serde(flatten)]
    pub status: WorkerStatus,
    /// Number of jobs that are not done yet.
    pub pending: u64,
}

/// The state of all workers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackgroundReport {
    /// One report per worker.
    pub workers: Vec<WorkerProgressReport>,
    /// Cost of background work today.
    pub spent_today: Usd,
    /// Number of jobs that failed permanently.
    pub failed: u64,
}

/// Jobs that failed permanently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedJobs {
    /// The most recent failures, newest first.
    pub jobs: Vec<Job>,
    /// Number of all failed jobs.
    pub total: u64,
}

/// The embeddings computed by one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelEmbeddings {
    /// Name of the model.
    pub model: String,
    /// Whether searches use these embeddings.
    pub is_used: bool,
    /// Number of embeddings per kind of subject.
    pub counts: Vec<(SubjectKind, u64)>,
}

/// The number of stored embeddings per model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmbeddingsReport {
    /// Name of the embedding model in use.
    pub embedder: String,
    /// Whether that model can be used as configured.
    pub is_available: bool,
    /// One entry per model that has embeddings.
    pub models: Vec<ModelEmbeddings>,
}

/// The result of rebuilding all embeddings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RebuildReport {
    /// Number of embeddings computed.
    #[serde(rename = "made")]
    pub computed: u64,
    /// Why some embeddings are missing, if any are.
    #[serde(rename = "trouble")]
    pub error: Option<String>,
}

impl RebuildReport {
    /// Returns an error if embeddings are missing.
    ///
    /// # Errors
    ///
    /// Fails if [`Self::error`] is set.
    pub fn check_complete(self) -> Result<(), Failure> {
        match self.error {
            Some(error) => Err(Failure::failed(error).hint(
                "The remaining embeddings are computed in the background. Show the progress with `/worker status`.",
            )),
            None => Ok(()),
        }
    }
}

impl Session {
    /// Starts every enabled worker that can work in this session.
    pub async fn start_background(&mut self) {
        self.assign_work();
        self.background.start(self.runtime.persistence(), self.conversation()).await;
        self.care.start();
        self.follower.start();
    }

    /// Does the background work that is due, for a program that exits after this turn.
    pub async fn finish_turn(&self) {
        self.background.finish_turn(self.runtime.persistence()).await;
        if self.runtime.persistence() == Persistence::Permanent
            && copies::is_established(self.runtime.home())
            && tokio::time::timeout(MAX_CARE, care::run_once(&self.runtime)).await.is_err()
        {
            tracing::info!("backing up the memory takes too long; a session in the terminal will do it");
        }
    }

    /// Restarts the workers with the current models and settings.
    pub(super) async fn restart_background(&mut self) {
        self.background.replace_workers(self.recall().clone()).await;
        self.start_background().await;
    }

    /// Decides which work a turn does itself and which it leaves to the workers. Turns must not wait for remote
    /// servers.
    pub(super) fn assign_work(&mut self) {
        let persistence = self.runtime.persistence();
        self.state.requests_digests = self.background.makes_digests(persistence);
        self.state.embeds_immediately = self.background.embeds_locally(persistence);
    }

    /// Returns the state of all workers.
    pub async fn workers(&self) -> Result<BackgroundReport, Failure> {
        let context = self.background.context();
        let mut workers = Vec::new();
        for status in self.background.runner.statuses() {
            let pending = self.store().pending(&context.claim(status.worker)).await?;
            let is_on = self.background.settings.is_on(status.worker);
            workers.push(WorkerProgressReport { is_on, status, pending });
        }
        let (spent_today, failed) = (context.spent_today().await?, self.store().failed_count().await?);
        Ok(BackgroundReport { workers, spent_today, failed })
    }

    /// Starts a worker for the rest of the session.
    ///
    /// # Errors
    ///
    /// Fails if the embedding model is not available and the worker needs it.
    pub fn start_worker(&mut self, kind: WorkerKind) -> Result<(), Failure> {
        if kind == WorkerKind::EmbeddingGenerator {
            self.require_embedder()?;
        }
        self.background.runner.start(kind);
        Ok(())
    }

    /// Stops a worker until it is started again.
    pub async fn stop_worker(&mut self, kind: WorkerKind) {
        self.background.runner.stop(kind).await;
    }

    /// Pauses all workers until [`Self::resume_workers`] is called.
    pub async fn pause_workers(&mut self) {
        self.background.is_paused = true;
        self.background.runner.pause().await;
    }

    /// Resumes all workers after [`Self::pause_workers`].
    pub fn resume_workers(&mut self) {
        self.background.is_paused = false;
        self.background.runner.resume();
    }

    /// Resumes the workers after an operation that paused them was interrupted, unless the user paused them.
    pub async fn resume_interrupted(&self) {
        self.background.resume_after_turn(self.conversation()).await;
    }

    /// Returns at most `limit` jobs that failed permanently.
    pub async fn failed_jobs(&self, limit: u32) -> Result<FailedJobs, Failure> {
        let (jobs, total) = (self.store().failed_jobs(limit).await?, self.store().failed_count().await?);
        Ok(FailedJobs { jobs, total })
    }

    /// Returns a job that failed permanently.
    pub async fn failed_job(&self, id: i64) -> Result<Job, Failure> {
        let jobs = self.store().failed_jobs(u32::MAX).await?;
        jobs.into_iter().find(|job| job.id == id).ok_or_else(|| {
            Failure::usage(format!("there is no failed job {id}"))
                .hint("List failed jobs with `/worker failures`.")
        })
    }

    /// Retries one failed job, or all if `id` is `None`. Returns the number of jobs.
    pub async fn retry_jobs(&self, id: Option<i64>) -> Result<u64, Failure> {
        let count = self.store().retry_jobs(id, self.agent.clock.now()).await?;
        self.background.runner.retry_now();
        Ok(count)
    }

    /// Discards one failed job, or all if `id` is `None`. Returns the number of jobs.
    pub async fn purge_jobs(&self, id: Option<i64>) -> Result<u64, Failure> {
        Ok(self.store().purge_jobs(id).await?)
    }

    /// Returns the number of embeddings per model.
    pub async fn embeddings(&self) -> Result<EmbeddingsReport, Failure> {
        let embedder = &self.recall().embedder;
        let mut models: Vec<ModelEmbeddings> = Vec::new();
        for row in self.store().embedding_counts().await? {
            let count = (row.kind, row.count);
            match models.iter_mut().find(|model| model.model == row.model) {
                Some(model) => model.counts.push(count),
                None => models.push(ModelEmbeddings {
                    is_used: row.model == embedder.name(),
                    model: row.model,
                    counts: vec![count],
                }),
            }
        }
        let (embedder, is_available) = (embedder.name().to_owned(), embedder.is_available());
        Ok(EmbeddingsReport { embedder, is_available, models })
    }

    /// Deletes and recomputes all embeddings. If it is interrupted, the workers compute the rest.
    ///
    /// # Errors
    ///
    /// Fails without deleting anything if the embedding model is not available or the budget is used up.
    pub async fn rebuild_embeddings(
        &self,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<RebuildReport, Failure> {
        self.require_embedder()?;
        self.background.runner.pause().await;
        let outcome = self.embed_everything(progress).await;
        if !self.background.is_paused {
            self.background.runner.resume();
        }
        outcome
    }

    async fn embed_everything(
        &self,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<RebuildReport, Failure> {
        let (context, kind) = (self.background.context(), WorkerKind::EmbeddingGenerator);
        if let Some(stop) = context.check_budget(kind).await? {
            return Err(Failure::failed(worker_text::describe_budget_stop(stop))
                .hint("The embeddings were not changed."));
        }
        self.store().delete_embeddings().await?;
        let total = self.store().pending(&context.claim(kind)).await?;
        let mut computed = 0;
        let mut observe = |_: WorkerKind, step: &WorkerProgress| {
            if let WorkerProgress::Worked { done, .. } = step {
                computed += done.len() as u64;
                progress(Progress { unit: ProgressUnit::Jobs, done: computed, total: Some(total) });
            }
        };
        let reports = run_until_idle(context, &[kind], &mut observe).await?;
        let error = reports.into_iter().find_map(|report| match report.stopped {
            Some(WorkerStopReason::OverBudget(stop)) => {
                Some(worker_text::describe_budget_stop(stop).to_owned())
            }
            _ => report.last_error,
        });
        Ok(RebuildReport { computed, error })
    }

    fn require_embedder(&self) -> Result<(), Failure> {
        let embedder = &self.recall().embedder;
        match embedder.is_available() {
            true => Ok(()),
            false => {
                Err(Failure::failed(format!("the embedding model {} is not available", embedder.name()))
                    .hint("Set its API key, or use the built-in model with `/models set auto embedder`."))
            }
        }
    }
}
