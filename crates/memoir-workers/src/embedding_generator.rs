//! Embeds messages, summaries and chunks in batches.

use async_trait::async_trait;
use memoir_core::{SubjectKind, WorkerKind};
use memoir_recall::BATCH;
use memoir_store::{Claimed, StoreError, Unembedded};

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

/// Embeds the next batch, of one kind or of any.
pub(crate) async fn embed_next(
    context: &WorkerContext,
    only: Option<SubjectKind>,
    current: &CurrentWork,
) -> Result<WorkerProgress, StoreError> {
    let kind = WorkerKind::EmbeddingGenerator;
    let limit = if only == Some(SubjectKind::Chunk) { 4 * CHUNKS } else { BATCH };
    let claimed = match claim_work(context, kind, (only, limit), current).await? {
        ClaimOutcome::Work(claimed) => claimed,
        ClaimOutcome::Nothing(why) => return Ok(why),
    };
    let texts = context.embeddings().embeddable_texts(&subjects(&claimed)).await?;
    // Work on what was deleted meanwhile is gone with it.
    let is_there = |work: &Claimed| texts.iter().any(|text| text.subject == work.subject);
    let claimed: Vec<Claimed> = claimed.into_iter().filter(is_there).collect();
    embed(context, &claimed, &texts).await
}

/// So many chunks are embedded at a time: one is as much work as several messages, and what was interrupted is done again.
const CHUNKS: u32 = 8;

/// When so many texts in a row are refused by themselves, it is not about the texts.
const MOST_REFUSED: usize = 5;

/// Embeds a batch. One text that a server refuses does not keep the others from their vectors: it is found by halving.
async fn embed(
    context: &WorkerContext,
    claimed: &[Claimed],
    texts: &[Unembedded],
) -> Result<WorkerProgress, StoreError> {
    let (mut done, mut failed, mut said) = (Vec::new(), Vec::new(), None);
    let (chunks, others): (Vec<Claimed>, Vec<Claimed>) =
        claimed.iter().cloned().partition(|work| work.subject.kind == SubjectKind::Chunk);
    // The last part is done first.
    let mut parts: Vec<Vec<Claimed>> =
        chunks.chunks(CHUNKS as usize).rev().map(<[Claimed]>::to_vec).collect();
    parts.extend((!others.is_empty()).then_some(others));
    while let Some(part) = parts.pop() {
        let of_part = |text: &&Unembedded| part.iter().any(|work| work.subject == text.subject);
        let texts: Vec<Unembedded> = texts.iter().filter(of_part).cloned().collect();
        let error = match context.recall.embed(&texts).await.map_err(WorkError::from) {
            Ok(_) => {
                done.extend(subjects(&part));
                continue;
            }
            Err(error) => error,
        };
        let one_of_many = error.is_about_the_text() && (failed.len() < MOST_REFUSED || !done.is_empty());
        if one_of_many && part.len() > 1 {
            tracing::debug!(texts = part.len(), "a batch was refused; retrying in halves to find the text");
            let (first, second) = part.split_at(part.len() / 2);
            parts.extend([second.to_vec(), first.to_vec()]);
            continue;
        }
        // What is wrong with the server is wrong for all.
        let rest = if one_of_many { Vec::new() } else { std::mem::take(&mut parts) };
        let refused: Vec<Claimed> = part.into_iter().chain(rest.into_iter().flatten()).collect();
        if let WorkerProgress::Worked { failed: noted, error, .. } =
            finish(context, WorkerKind::EmbeddingGenerator, &refused, Err(error)).await?
        {
            failed.extend(noted);
            said = error.or(said);
        }
    }
    Ok(WorkerProgress::Worked { done, failed, error: said })
}
