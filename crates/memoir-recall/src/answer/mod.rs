//! Answers without a language model: the one sentence of memory that answers a question, or nothing.

mod candidates;
mod choice;
mod intent;
mod overview;
mod units;
mod vocabulary;

use std::{collections::HashMap, ops::Range};

use memoir_core::{
    Answer, CoreEntry, DocumentPassage, MessageId, Passage, Purpose, Quotation, Recollection, Source,
};
use memoir_models::EmbedTask;
use memoir_store::{Filter, MessageOutline};

use crate::{Inquiry, QueryKind, RankedMessage, Recall, RecallError, StageName, stages::refine::cosine};

use candidates::Candidate;
use choice::Question;
use intent::Intent;
pub use intent::is_lookup;

/// Stages that select the passages for a prompt, after everything has been ranked.
const PASSAGE_STAGES: [StageName; 3] = [StageName::Abstain, StageName::Diversify, StageName::Budget];

/// Number of sentences that are compared with a statement by meaning, which takes about a millisecond each.
const MAX_COMPARED: usize = 64;

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
        let previous = context.previous.map(|(question, _)| question);
        let problem = self.supply(&resolve_follow_up(prompt, previous), &Filter::default()).await;
        let mut recollection = match Intent::parse(prompt, self.clock.now(), &self.zone) {
            Intent::Overview(period) => self.answer_with_overview(period).await,
            Intent::Statement => self.acknowledge(prompt).await,
            Intent::Question { former } => {
                self.answer_question(prompt, former, context, Filter::default()).await
            }
        };
        recollection.notices.extend(problem);
        recollection
    }

    /// Looks something up in what `filter` allows. Unlike [`answer`](Self::answer), takes a statement for a question.
    pub async fn look_up(&self, question: &str, filter: Filter) -> Recollection {
        let former = match Intent::parse(question, self.clock.now(), &self.zone) {
            Intent::Overview(period) => return self.answer_with_overview(period).await,
            Intent::Statement => false,
            Intent::Question { former } => former,
        };
        self.answer_question(question, former, AnswerContext::default(), filter).await
    }

    async fn answer_question(
        &self,
        prompt: &str,
        former: bool,
        context: AnswerContext<'_>,
        filter: Filter,
    ) -> Recollection {
        let previous = context.previous.filter(|_| intent::is_follow_up(prompt));
        let question = resolve_follow_up(prompt, previous.map(|(question, _)| question));
        let question = if former { intent::without_former_words(&question) } else { question };
        let (inquiry, mut recollection) = self.rank_and_select(&question, filter).await;
        if inquiry.asks_nothing() {
            return recollection;
        }
        // An earlier search is no evidence. If it is a note that answers the question, it is quoted and added again.
        let is_search =
            |passage: &Passage| passage.assistant_excerpt.is_empty() && intent::may_be_search(&passage.text);
        let has_passages = !recollection.documents.is_empty() || !recollection.passages.iter().all(is_search);
        let answer = match self.find_answer(&inquiry, prompt, former, context, has_passages).await {
            Ok(Some(answer)) => answer,
            Ok(None) => return recollection,
            Err(error) => {
                tracing::warn!(%error, "could not read what may answer the question");
                return recollection;
            }
        };
        recollection.passages.retain(|passage| !is_search(passage));
        if matches!(answer, Answer::Absent { .. }) {
            recollection.passages.clear();
            recollection.documents.clear();
            recollection.conversations.clear();
        }
        recollection.answer = Some(answer);
        self.add_sources(&inquiry, &mut recollection).await;
        recollection
    }

    /// Finds the sentence that answers a question. Without a reader or an embedding of the question, the passages that
    /// contain its words are all there is.
    async fn find_answer(
        &self,
        inquiry: &Inquiry,
        prompt: &str,
        former: bool,
        context: AnswerContext<'_>,
        has_passages: bool,
    ) -> Result<Option<Answer>, RecallError> {
        let (Some(reader), Some(_)) = (&self.reader, &inquiry.vector) else { return Ok(None) };
        let previous = context.previous.filter(|_| intent::is_follow_up(prompt));
        let previous_question = previous.map(|(question, _)| question);
        let texts = self.gather_texts(inquiry, context.core_memory).await?;
        let first_line = previous.and_then(|(_, answer)| answer.lines().next());
        let is_first_line = |candidate: &&Candidate| Some(candidate.unit.text.as_str()) == first_line;
        let previous_answer = texts.iter().flat_map(|text| &text.sentences).find(is_first_line);
        if let Some(previous) = previous_answer.filter(|_| intent::asks_when_that_was(prompt)) {
            let quotation = Quotation { answers_with_date: true, ..previous.quote() };
            return Ok(Some(Answer::Quotation(quotation)));
        }
        let question = Question {
            text: resolve_follow_up(prompt, previous_question),
            previous: previous_answer,
            former: former.then(|| intent::Former::parse(prompt, previous_question)),
            is_search: previous.is_none() && intent::may_be_search(prompt),
            has_passages,
        };
        Ok(Some(choice::choose(reader.as_ref(), &question, &texts).await?))
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
        let passages = self.passages_of(outlines, inquiry.parts.clone()).await;
        recollection.passages.extend(passages);
    }

    /// Returns the passages of these messages, with the parts of long ones to quote.
    async fn passages_of(
        &self,
        outlines: Vec<MessageOutline>,
        parts: HashMap<MessageId, Range<usize>>,
    ) -> Vec<Passage> {
        let mut recall = self.clone();
        recall.settings.token_budget = u64::MAX;
        let mut inquiry = Inquiry::new("", QueryKind::Search, Filter::default());
        inquiry.parts = parts;
        let rank =
            |outline| RankedMessage { outline, score: 0.0, similarity: 0.0, coverage: 0.0, superseded: None };
        inquiry.ranked = outlines.into_iter().map(rank).collect();
        recall.run(inquiry, &[StageName::Budget]).await.passages
    }

    /// Acknowledges a statement and finds what it contradicts.
    pub async fn acknowledge(&self, prompt: &str) -> Recollection {
        let (inquiry, recollection) = self.rank_and_select(prompt, Filter::default()).await;
        let supersedes = self.find_contradiction(&inquiry, prompt).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not read what the statement may contradict");
            None
        });
        let mut noted = Recollection {
            answer: Some(Answer::Noted { supersedes: supersedes.into_iter().collect() }),
            notices: recollection.notices,
            ..Recollection::default()
        };
        self.add_sources(&inquiry, &mut noted).await;
        noted
    }

    /// Returns the statement that a new one contradicts.
    async fn find_contradiction(
        &self,
        inquiry: &Inquiry,
        statement: &str,
    ) -> Result<Option<Quotation>, RecallError> {
        let Some(query) = &inquiry.vector else { return Ok(None) };
        let texts = self.gather_texts(inquiry, &[]).await?;
        let mut candidates: Vec<Candidate> = texts.into_iter().flat_map(|text| text.sentences).collect();
        candidates.retain(|candidate| !candidate.unit.is_question && !candidate.may_be_search);
        candidates.sort_by(|a, b| b.coverage.total_cmp(&a.coverage));
        candidates.truncate(MAX_COMPARED);
        let prepare = |candidate: &Candidate| self.prepare_to_send(candidate.unit.meaning.clone());
        let sentences: Vec<String> = candidates.iter().map(prepare).collect();
        if sentences.is_empty() {
            return Ok(None);
        }
        let embedded = self.embedder.embed(&sentences, EmbedTask::Document).await?;
        self.record_cost(Purpose::Query, embedded.usage, None).await?;
        let compared = candidates
            .iter()
            .zip(&embedded.vectors)
            .map(|(candidate, vector)| (cosine(query, vector), candidate));
        let nearest = compared
            .filter(|(similarity, candidate)| {
                choice::contradicts(statement, &candidate.unit.text, *similarity)
            })
            .max_by(|a, b| a.0.total_cmp(&b.0));
        Ok(nearest.map(|(_, candidate)| candidate.quote()))
    }

    /// Ranks all messages and documents, and selects the passages as for a prompt.
    async fn rank_and_select(&self, text: &str, filter: Filter) -> (Inquiry, Recollection) {
        let stages = &self.settings.stages;
        let ranking: Vec<StageName> =
            stages.iter().copied().filter(|stage| !PASSAGE_STAGES.contains(stage)).collect();
        let selection: Vec<StageName> =
            stages.iter().copied().filter(|stage| PASSAGE_STAGES.contains(stage)).collect();
        let inquiry = self.run(Inquiry::new(text, QueryKind::Prompt, filter), &ranking).await;
        let selected = self.run(inquiry.clone(), &selection).await;
        let recollection = self.collect(selected).await;
        (inquiry, recollection)
    }
}
