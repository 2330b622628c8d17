//! Nothing when nothing is relevant.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use memoir_core::{MessageId, SubjectKind};

use crate::{Inquiry, QueryKind, RankedMessage, Recall, RecallError, Stage, calibration::Calibration};

pub(crate) struct AbstainStage;

/// Near enough in meaning, or with enough of the words: either will do.
#[derive(Debug, Clone, Copy)]
struct Threshold {
    similarity: f64,
    coverage: f64,
}

#[async_trait]
impl Stage for AbstainStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        let near =
            Calibration::for_model(recall.embedder.name()).with_minimum(recall.settings.min_similarity);
        abstain(inquiry, near);
        Ok(())
    }
}

/// Keeps what is relevant. One passage must be clearly so for any to come unasked; then others may be less.
fn abstain(inquiry: &mut Inquiry, near: Calibration) {
    let (to_answer, to_be_among) = match inquiry.kind {
        QueryKind::Prompt => (
            Threshold { similarity: near.to_answer, coverage: 0.62 },
            Threshold { similarity: near.to_be_among, coverage: 0.45 },
        ),
        QueryKind::Search => {
            let found = Threshold { similarity: near.to_be_found, coverage: 0.34 };
            (found, found)
        }
    };
    // Estimates of thousands have a few that are too high: only what was measured exactly decides.
    let near: HashSet<MessageId> = inquiry.near.iter().map(|found| found.message_id).collect();
    let is_exact = |found: &RankedMessage| {
        inquiry.vectors.contains_key(&found.outline.id) || near.contains(&found.outline.id)
    };
    // What was said may say little by itself ("it happened again"); the summary of its exchange tells what it was about.
    let told: HashMap<i64, f64> = inquiry
        .summaries
        .iter()
        .filter(|found| found.subject.kind == SubjectKind::Exchange)
        .map(|found| (found.subject.id, found.score))
        .collect();
    let told_as_near = |found: &RankedMessage, similarity: f64| {
        told.get(&found.outline.exchange_id.get()).is_some_and(|told| *told >= similarity)
    };
    let answers = |found: &RankedMessage| {
        found.coverage >= to_answer.coverage
            || (found.similarity >= to_answer.similarity && is_exact(found))
            || told_as_near(found, to_answer.similarity)
    };
    if !inquiry.ranked.iter().any(answers) {
        inquiry.ranked.clear();
    }
    inquiry.ranked.retain(|found| {
        found.similarity >= to_be_among.similarity
            || found.coverage >= to_be_among.coverage
            || told_as_near(found, to_be_among.similarity)
    });
}
