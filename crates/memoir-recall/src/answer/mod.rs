//! Answers without a language model: the one sentence of memory that answers a question, or nothing.

mod candidates;
mod choice;
mod expected;
mod intent;
mod overview;
mod units;
mod vocabulary;

use memoir_core::{Answer, CoreEntry, DocumentPassage, Passage, Quotation, Recollection, Source};
use memoir_store::{Filter, MessageOutline};

use crate::{Inquiry, QueryKind, RankedMessage, Recall, StageName, calibration::Calibration};

use candidates::Candidate;
use choice::QuestionKind;
use intent::Intent;
pub use intent::is_lookup;

/// Stages that select the passages for a prompt, after everything has been ranked.
const PASSAGE_STAGES: [StageName; 3] = [StageName::Abstain, StageName::Diversify, StageName::Budget];

/// What an answer may depend on besides the prompt.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnswerContext<'a> {
    /// Blocks of core memory.
    pub core_memory: &'a [CoreEntry],
    /// Question and answer of the exchange before this one in the conversation.
    pub previous: Option<(&'a str, &'a str)>,
}

/// Returns the question that a prompt asks after `previous`: itself, or for "and before that?" together with it.
pub fn resolve_follow_up(prompt: &str, previous: Option<&str>) -> String {
    match previous.filter(|_| intent::is_follow_up(prompt)) {
        Some(previous) => format!("{} {}", previous.trim(), prompt.trim()),
        None => prompt.to_owned(),
    }
}

impl Recall {
    /// Answers a prompt from memory, with the passages that support the answer.
    pub async fn answer(&self, prompt: &str, context: AnswerContext<'_>) -> Recollection {
        match Intent::parse(prompt, self.clock.now(), &self.zone) {
            Intent::Overview(period) => self.answer_with_overview(period).await,
            Intent::Statement => self.acknowledge(prompt).await,
            Intent::Question { former } => self.answer_question(prompt, former, context).await,
        }
    }

    async fn answer_question(&self, prompt: &str, former: bool, context: AnswerContext<'_>) -> Recollection {
        let previous = context.previous.filter(|_| intent::is_follow_up(prompt));
        let question = resolve_follow_up(prompt, previous.map(|(question, _)| question));
        let question = if former { intent::without_former_words(&question) } else { question };
        let (inquiry, mut recollection) = self.rank_and_select(&question).await;
        // Without an embedding of the question, the passages that contain its words are all there is.
        if inquiry.asks_nothing() || inquiry.vector.is_none() {
            return recollection;
        }
        // An earlier search is no evidence. If it is a note that answers the question, it is quoted and added again.
        recollection.passages.retain(|passage| {
            !(passage.assistant_excerpt.is_empty() && intent::may_be_search(&passage.text))
        });
        let mut candidates = match self.gather_candidates(&inquiry, context.core_memory).await {
            Ok(candidates) => candidates,
            Err(error) => {
                tracing::warn!(%error, "could not read what may answer the question");
                return recollection;
            }
        };
        let asks_when = previous.is_some() && intent::asks_when_that_was(prompt);
        let first_line = previous.and_then(|(_, answer)| answer.lines().next());
        let is_first_line = |candidate: &Candidate| Some(candidate.unit.text.as_str()) == first_line;
        let previous_answer = candidates.iter().find(|candidate| is_first_line(candidate)).cloned();
        if !asks_when {
            // The answer to the first question does not answer the second one.
            candidates.retain(|candidate| !is_first_line(candidate));
        }
        let asked = choice::Question {
            inquiry: &inquiry,
            prompt,
            previous: previous_answer.as_ref(),
            kind: match previous {
                Some(_) => QuestionKind::FollowUp,
                None if intent::is_question(prompt) => QuestionKind::Question,
                None => QuestionKind::Search,
            },
            has_passages: !recollection.is_empty(),
            relevant_similarity: self.relevant_similarity().await,
            former,
            asks_when,
        };
        let answer = choice::choose(&asked, candidates);
        if matches!(answer, Answer::Absent { .. }) {
            recollection.passages.clear();
            recollection.documents.clear();
            recollection.conversations.clear();
        }
        recollection.answer = Some(answer);
        self.add_sources(&inquiry, &mut recollection).await;
        recollection
    }

    /// Adds the passages that an answer quotes, if they are missing. They are logged with the answer, so that deleting
    /// one of them deletes the answer, too.
    async fn add_sources(&self, inquiry: &Inquiry, recollection: &mut Recollection) {
        let quotations: Vec<&Quotation> = match &recollection.answer {
            Some(Answer::Quotation(quotation)) => vec![quotation],
            Some(Answer::Absent { related }) => related.iter().collect(),
            Some(Answer::Noted { supersedes }) => supersedes.iter().collect(),
            Some(Answer::Overview(_)) | None => Vec::new(),
        };
        let (mut outlines, mut documents) = (Vec::new(), Vec::new());
        for quotation in quotations {
            match &quotation.source {
                Source::Message { exchange, .. } => {
                    let is_quoted = |passage: &Passage| passage.exchange_id == *exchange;
                    if !recollection.passages.iter().any(is_quoted) {
                        outlines.extend(
                            inquiry.outlines.iter().find(|outline| outline.exchange_id == *exchange).cloned(),
                        );
                    }
                }
                Source::Document { slug, .. } => {
                    let is_source = |passage: &&DocumentPassage| passage.document.slug == *slug;
                    if !recollection.documents.iter().any(|passage| is_source(&passage)) {
                        documents.extend(inquiry.document_candidates.iter().find(is_source).cloned());
                    }
                }
                Source::CoreMemory(_) => {}
            }
        }
        recollection.documents.extend(documents);
        let passages = self.passages_of(outlines).await;
        recollection.passages.extend(passages);
    }

    /// Returns the passages of these messages.
    async fn passages_of(&self, outlines: Vec<MessageOutline>) -> Vec<Passage> {
        let mut recall = self.clone();
        recall.settings.token_budget = u64::MAX;
        let mut inquiry = Inquiry::new("", QueryKind::Search, Filter::default());
        let rank =
            |outline| RankedMessage { outline, score: 0.0, similarity: 0.0, coverage: 0.0, superseded: None };
        inquiry.ranked = outlines.into_iter().map(rank).collect();
        recall.run(inquiry, &[StageName::Budget]).await.passages
    }

    /// Returns the similarity from which a message counts as clearly relevant, which depends on the size of memory.
    async fn relevant_similarity(&self) -> f64 {
        let model = self.embedder.name();
        let count = self.store.embedded_count(model).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not read the size of memory");
            0
        });
        Calibration::for_model(model, count).with_minimum(self.settings.min_similarity).prompt_best
    }

    /// Acknowledges a statement and finds what it contradicts.
    async fn acknowledge(&self, prompt: &str) -> Recollection {
        let (inquiry, recollection) = self.rank_and_select(prompt).await;
        let candidates = self.gather_candidates(&inquiry, &[]).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not read what the statement may contradict");
            Vec::new()
        });
        let supersedes = choice::find_contradiction(prompt, &candidates);
        let mut noted = Recollection {
            answer: Some(Answer::Noted { supersedes: supersedes.into_iter().collect() }),
            notices: recollection.notices,
            ..Recollection::default()
        };
        self.add_sources(&inquiry, &mut noted).await;
        noted
    }

    /// Ranks all messages and documents, and selects the passages as for a prompt.
    async fn rank_and_select(&self, text: &str) -> (Inquiry, Recollection) {
        let stages = &self.settings.stages;
        let ranking: Vec<StageName> =
            stages.iter().copied().filter(|stage| !PASSAGE_STAGES.contains(stage)).collect();
        let selection: Vec<StageName> =
            stages.iter().copied().filter(|stage| PASSAGE_STAGES.contains(stage)).collect();
        let inquiry = self.run(Inquiry::new(text, QueryKind::Prompt, Filter::default()), &ranking).await;
        let selected = self.run(inquiry.clone(), &selection).await;
        let recollection = self.collect(selected).await;
        (inquiry, recollection)
    }
}
