//! Embeds messages, summaries and chunks in batches.

use async_trait::async_trait;
use memoir_core::{SubjectKind, WorkerKind};
use memoir_recall::EMBED_BATCH_SIZE;
use memoir_store::{ClaimedJob, StoreError, UnembeddedText};

use crate::{
    WorkerContext,
    worker::{
        BackgroundWorker, ClaimOutcome, CurrentWork, WorkError, WorkerProgress, claim_work, finish, subjects,
    },
};

pub(crate) struct EmbeddingGenerator;

#[async_trait]
impl BackgroundWorker for EmbeddingGenerator {
    fn kind(&self) -> WorkerKind {
        WorkerKind::EmbeddingGenerator
    }

    async fn step(
        &self,
        context: &WorkerContext,
        current: &CurrentWork,
    ) -> Result<WorkerProgress, StoreError> {
        embed_next(context, None, current).await
    }
}

/// Embeds the next batch, restricted to one kind of subject if `subject_kind` is set.
pub(crate) async fn embed_next(
    context: &WorkerContext,
    subject_kind: Option<SubjectKind>,
    current: &CurrentWork,
) -> Result<WorkerProgress, StoreError> {
    let kind = WorkerKind::EmbeddingGenerator;
    // One batch of chunks takes seconds on this machine, and the user watches the progress.
    let limit = if subject_kind == Some(SubjectKind::Chunk) { CHUNK_BATCH } else { EMBED_BATCH_SIZE };
    let claimed = match claim_work(context, kind, (subject_kind, limit), current).await? {
        ClaimOutcome::Work(claimed) => claimed,
        ClaimOutcome::Nothing(progress) => return Ok(progress),
    };
    let texts = context.embeddings().embeddable_texts(&subjects(&claimed)).await?;
    // A job is deleted together with its subject.
    let has_text = |job: &ClaimedJob| texts.iter().any(|text| text.subject == job.subject);
    let claimed: Vec<ClaimedJob> = claimed.into_iter().filter(has_text).collect();
    embed(context, &claimed, &texts).await
}

/// Number of chunks per request. A chunk takes as long as several messages, and an interrupted batch starts over.
const CHUNK_BATCH: u32 = 8;

/// If the server rejects this many single texts and accepts none, the cause is not in the texts.
const MAX_REJECTED: usize = 5;

/// Embeds a batch. If the server rejects a text, the batch is halved until the offending text is isolated.
async fn embed(
    context: &WorkerContext,
    claimed: &[ClaimedJob],
    texts: &[UnembeddedText],
) -> Result<WorkerProgress, StoreError> {
    let (mut done, mut failed, mut last_error) = (Vec::new(), Vec::new(), None);
    let (chunks, others): (Vec<ClaimedJob>, Vec<ClaimedJob>) =
        claimed.iter().cloned().partition(|job| job.subject.kind == SubjectKind::Chunk);
    // `parts` is a stack, so chunks are pushed in reverse and everything else on top of them.
    let mut parts: Vec<Vec<ClaimedJob>> =
        chunks.chunks(CHUNK_BATCH as usize).rev().map(<[ClaimedJob]>::to_vec).collect();
    parts.extend((!others.is_empty()).then_some(others));
    while let Some(part) = parts.pop() {
        let is_in_part = |text: &&UnembeddedText| part.iter().any(|job| job.subject == text.subject);
        let texts: Vec<UnembeddedText> = texts.iter().filter(is_in_part).cloned().collect();
        let error = match context.recall.embed(&texts).await.map_err(WorkError::from) {
            Ok(_) => {
                done.extend(subjects(&part));
                continue;
            }
            Err(error) => error,
        };
        let is_text_rejected = error.is_caused_by_text() && (failed.len() < MAX_REJECTED || !done.is_empty());
        if is_text_rejected && part.len() > 1 {
            tracing::debug!(texts = part.len(), "the server rejected a batch; retrying in halves");
            let (first, second) = part.split_at(part.len() / 2);
            parts.extend([second.to_vec(), first.to_vec()]);
            continue;
        }
        // A problem with the server would fail the remaining parts too.
        let rest = if is_text_rejected { Vec::new() } else { std::mem::take(&mut parts) };
        let failed_jobs: Vec<ClaimedJob> = part.into_iter().chain(rest.into_iter().flatten()).collect();
        if let WorkerProgress::Worked { failed: failed_subjects, error, .. } =
            finish(context, WorkerKind::EmbeddingGenerator, &failed_jobs, Err(error)).await?
        {
            failed.extend(failed_subjects);
            last_error = error.or(last_error);
        }
    }
    Ok(WorkerProgress::Worked { done, failed, error: last_error })
}
