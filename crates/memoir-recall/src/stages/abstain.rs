//! Discards irrelevant messages, or all of them if none is clearly relevant.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use memoir_core::{MessageId, SubjectKind};

use crate::{Inquiry, QueryKind, RankedMessage, Recall, RecallError, Stage, calibration::Calibration};

pub(crate) struct AbstainStage;

/// A relevance threshold. A message passes if either value is high enough.
#[derive(Debug, Clone, Copy)]
struct Threshold {
    similarity: f64,
    coverage: f64,
}

#[async_trait]
impl Stage for AbstainStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        // Without matches, the index need not be loaded.
        if inquiry.ranked.is_empty() {
            return Ok(());
        }
        let model = recall.embedder.name();
        let count = recall.store.embedded_count(model).await?;
        let thresholds = Calibration::for_model(recall.embedder.as_ref(), count)
            .with_minimum(recall.settings.min_similarity);
        abstain(inquiry, thresholds);
        Ok(())
    }
}

/// Keeps relevant messages, provided that one is clearly relevant.
fn abstain(inquiry: &mut Inquiry, thresholds: Calibration) {
    let (best, other) = match inquiry.kind {
        QueryKind::Prompt => (
            Threshold { similarity: thresholds.prompt_best, coverage: 0.62 },
            Threshold { similarity: thresholds.prompt_other, coverage: 0.45 },
        ),
        QueryKind::Search => {
            let threshold = Threshold { similarity: thresholds.search, coverage: 0.34 };
            (threshold, threshold)
        }
    };
    // Among thousands of estimates a few are too high, so only exact similarities count.
    let nearest: HashSet<MessageId> = inquiry.nearest.iter().map(|message| message.message_id).collect();
    let is_exact = |message: &RankedMessage| {
        inquiry.vectors.contains_key(&message.outline.id) || nearest.contains(&message.outline.id)
    };
    // A message may be unclear by itself ("it happened again"); the summary of its exchange gives the topic.
    let summary_scores: HashMap<i64, f64> = inquiry
        .summaries
        .iter()
        .filter(|summary| summary.subject.kind == SubjectKind::Exchange)
        .map(|summary| (summary.subject.id, summary.score))
        .collect();
    let has_similar_summary = |message: &RankedMessage, similarity: f64| {
        summary_scores.get(&message.outline.exchange_id.get()).is_some_and(|score| *score >= similarity)
    };
    let is_clearly_relevant = |message: &RankedMessage| {
        message.coverage >= best.coverage
            || (message.similarity >= best.similarity && is_exact(message))
            || has_similar_summary(message, best.similarity)
    };
    if !inquiry.ranked.iter().any(is_clearly_relevant) {
        inquiry.ranked.clear();
    }
    inquiry.ranked.retain(|message| {
        message.similarity >= other.similarity
            || message.coverage >= other.coverage
            || has_similar_summary(message, other.similarity)
    });
}
