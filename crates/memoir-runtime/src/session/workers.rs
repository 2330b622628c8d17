//! The workers of a session: how they are doing, and what the user decides about them.

use memoir_core::{SubjectKind, Usd, WorkerKind};
use memoir_store::Job;
use memoir_workers::{Stopped, WorkerProgress, WorkerStatus, run_until_idle};
use serde::Serialize;

use super::Session;
use crate::{
    failure::Failure,
    operations::{Progress, ProgressUnit},
    worker_text,
};

/// How one worker is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerProgressReport {
    /// Whether it is switched on.
    pub is_on: bool,
    /// What it is doing.
    #[serde(flatten)]
    pub status: WorkerStatus,
    /// Number of jobs that wait for it.
    pub pending: u64,
}

/// How the workers are doing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackgroundReport {
    /// Every worker.
    pub workers: Vec<WorkerProgressReport>,
    /// What they spent today.
    pub spent_today: Usd,
    /// Number of jobs that failed for good.
    pub failed: u64,
}

/// Jobs that failed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedJobs {
    /// The latest of them, newest first.
    pub jobs: Vec<Job>,
    /// Number of all of them.
    pub total: u64,
}

/// The vectors that one model made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelVectors {
    /// The model.
    pub model: String,
    /// Whether memory is searched with them.
    pub is_used: bool,
    /// Their number by what they stand for.
    pub counts: Vec<(SubjectKind, u64)>,
}

/// The vectors that exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmbeddingsReport {
    /// The embedding model.
    pub embedder: String,
    /// Whether it can be called as it is set up.
    pub is_available: bool,
    /// Vectors by model.
    pub models: Vec<ModelVectors>,
}

/// What came of making all vectors again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RebuildReport {
    /// Number of vectors made.
    pub made: u64,
    /// Why not all were made, if some were not.
    pub trouble: Option<String>,
}

impl RebuildReport {
    /// Fails if vectors are missing.
    ///
    /// # Errors
    ///
    /// Fails with the reason why not all vectors were made.
    pub fn check_complete(self) -> Result<(), Failure> {
        match self.trouble {
            Some(trouble) => Err(Failure::failed(trouble)
                .hint("What is missing is made in the background; /worker status shows how that goes.")),
            None => Ok(()),
        }
    }
}

impl Session {
    /// Starts every worker that is switched on and can do its work.
    pub async fn start_background(&mut self) {
        self.divide_work();
        self.background.start(self.runtime.persistence(), self.conversation()).await;
    }

    /// Restarts the workers with the present models and settings.
    pub(super) async fn restart_background(&mut self) {
        self.background.renew(self.recall().clone()).await;
        self.start_background().await;
    }

    /// Decides what a turn does itself and what it leaves to the workers: nobody should wait for a remote server.
    pub(super) fn divide_work(&mut self) {
        let persistence = self.runtime.persistence();
        self.state.asks_for_digests = self.background.makes_digests(persistence);
        self.state.embeds_at_once = self.background.embeds_locally(persistence);
    }

    /// Returns how the workers are doing.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
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

    /// Starts a worker until the session ends.
    ///
    /// # Errors
    ///
    /// Fails if the model that it needs cannot be called.
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

    /// Pauses all workers.
    pub async fn pause_workers(&mut self) {
        self.background.is_paused = true;
        self.background.runner.pause().await;
    }

    /// Lets all workers continue.
    pub fn resume_workers(&mut self) {
        self.background.is_paused = false;
        self.background.runner.resume();
    }

    /// Lets the workers continue after something that paused them was cut short, unless the user paused them.
    pub async fn resume_interrupted(&self) {
        self.background.resume_after_turn(self.conversation()).await;
    }

    /// Lists jobs that failed for good, `limit` at most.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
    pub async fn failed_jobs(&self, limit: u32) -> Result<FailedJobs, Failure> {
        let (jobs, total) = (self.store().failed_jobs(limit).await?, self.store().failed_count().await?);
        Ok(FailedJobs { jobs, total })
    }

    /// Returns one job that failed for good.
    ///
    /// # Errors
    ///
    /// Fails if there is none with this number.
    pub async fn failed_job(&self, id: i64) -> Result<Job, Failure> {
        let failed = self.store().failed_jobs(u32::MAX).await?;
        failed.into_iter().find(|job| job.id == id).ok_or_else(|| {
            Failure::usage(format!("there is no failed job {id}")).hint("/worker failures lists them.")
        })
    }

    /// Lets failed jobs be tried again: one, or all. Returns their number.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
    pub async fn retry_jobs(&self, id: Option<i64>) -> Result<u64, Failure> {
        let retried = self.store().retry_jobs(id, self.agent.clock.now()).await?;
        self.background.runner.hurry();
        Ok(retried)
    }

    /// Gives failed jobs up: one, or all. Returns their number.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
    pub async fn purge_jobs(&self, id: Option<i64>) -> Result<u64, Failure> {
        Ok(self.store().purge_jobs(id).await?)
    }

    /// Counts the vectors that exist.
    ///
    /// # Errors
    ///
    /// Fails if the store does.
    pub async fn embeddings(&self) -> Result<EmbeddingsReport, Failure> {
        let embedder = &self.recall().embedder;
        let mut models: Vec<ModelVectors> = Vec::new();
        for counted in self.store().embedding_counts().await? {
            let count = (counted.kind, counted.count);
            match models.iter_mut().find(|known| known.model == counted.model) {
                Some(known) => known.counts.push(count),
                None => models.push(ModelVectors {
                    is_used: counted.model == embedder.name(),
                    model: counted.model,
                    counts: vec![count],
                }),
            }
        }
        let (embedder, is_available) = (embedder.name().to_owned(), embedder.is_available());
        Ok(EmbeddingsReport { embedder, is_available, models })
    }

    /// Deletes all vectors and makes them again. If it is cut short, the workers make the rest.
    ///
    /// # Errors
    ///
    /// Fails if the embedding model cannot be called, or if the budget does not allow it, before anything is deleted.
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
            return Err(Failure::failed(worker_text::why(stop)).hint("The vectors were left as they are."));
        }
        self.store().delete_embeddings().await?;
        let total = self.store().pending(&context.claim(kind)).await?;
        let mut made = 0;
        let mut listen = |_: WorkerKind, step: &WorkerProgress| {
            if let WorkerProgress::Worked { done, .. } = step {
                made += done.len() as u64;
                progress(Progress { unit: ProgressUnit::Jobs, done: made, total: Some(total) });
            }
        };
        let reports = run_until_idle(context, &[kind], &mut listen).await?;
        let trouble = reports.into_iter().find_map(|report| match report.stopped {
            Some(Stopped::OverBudget(stop)) => Some(worker_text::why(stop).to_owned()),
            _ => report.last_error,
        });
        Ok(RebuildReport { made, trouble })
    }

    fn require_embedder(&self) -> Result<(), Failure> {
        let embedder = &self.recall().embedder;
        match embedder.is_available() {
            true => Ok(()),
            false => Err(Failure::failed(format!("{} cannot be called", embedder.name()))
                .hint("Set its key, or /models set auto embedder for the compiled-in model.")),
        }
    }
}
