//! Measuring the answers that memory gives without a language model.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_core::{
    ChangedBy, Clock, ConversationTarget, CoreBlock, CoreChange, CoreEntry, DocumentKind, NewConversation,
    TimeZone, Timestamp, WorkerKind,
};
use memoir_embed::{LocalEmbedder, LocalReader};
use memoir_recall::{AnswerContext, Recall, render_answer, split_into_chunks};
use memoir_store::{NewDocument, Store};
use memoir_workers::{WorkerContext, run_until_idle};
use serde::{Deserialize, Serialize};

use super::{
    data::{self, AnswerCase, AnswerHistory},
    measure::Hits,
};
use crate::{
    failure::Failure,
    operations::{Progress, ProgressUnit, database},
};

/// Project that the conversations of a history belong to.
const PROJECT: &str = "/eval";

/// The start of an answer that abstains.
const ABSENT: &str = "Nothing in memory about this.";

/// Request to measure answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswersRequest {
    /// JSON file with histories and cases.
    pub data: PathBuf,
    /// Measure only the histories of this half, such as `test`.
    pub half: Option<String>,
}

/// Measured quality of answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnswersReport {
    /// Cases whose first line answers the question, in each category.
    pub categories: BTreeMap<String, Hits>,
    /// The same for all categories together.
    pub answered: Hits,
    /// Questions without an answer. Correct if nothing is quoted.
    pub abstained: Hits,
    /// Cases that failed.
    pub failures: Vec<FailedCase>,
}

/// A case that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedCase {
    /// Id of the case.
    pub id: String,
    /// The prompt.
    pub ask: String,
    /// What the first line should contain, or `None` if nothing should be quoted.
    pub expected: Option<String>,
    /// First line of the answer.
    pub answer: String,
}

/// Loads each history into a new database in `temporary` and asks its questions.
///
/// # Errors
///
/// Fails if the data cannot be read, has no histories of the half, or a history cannot be stored.
pub async fn measure_answers(
    request: &AnswersRequest,
    temporary: &Path,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<AnswersReport, Failure> {
    let mut histories = data::read_histories(&request.data)?;
    if let Some(half) = &request.half {
        histories.retain(|history| history.half == *half);
        if histories.is_empty() {
            return Err(Failure::usage(format!("the data has no half named \"{half}\""))
                .hint("Omit --half to measure all histories."));
        }
    }
    let mut report = AnswersReport {
        categories: BTreeMap::new(),
        answered: Hits::default(),
        abstained: Hits::default(),
        failures: Vec::new(),
    };
    for (history, number) in histories.iter().zip(0..) {
        let total = Some(histories.len() as u64);
        progress(Progress { unit: ProgressUnit::Conversations, done: number, total });
        let home = temporary.join(format!("memoir-answers-{}-{number}", std::process::id()));
        let result = measure_history(history, &home, &mut report).await;
        if let Err(error) = std::fs::remove_dir_all(&home) {
            tracing::warn!(%error, "could not remove a temporary database");
        }
        result?;
    }
    Ok(report)
}

struct FixedClock(Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

async fn measure_history(
    history: &AnswerHistory,
    home: &Path,
    report: &mut AnswersReport,
) -> Result<(), Failure> {
    let store = database::open(&home.join("memoir.db")).await?;
    let clock = Arc::new(FixedClock(data::parse_time(&history.now)?));
    let mut recall = Recall::new(store.clone(), Arc::new(LocalEmbedder), clock, TimeZone::UTC);
    recall.reader = Some(Arc::new(LocalReader));
    let core_memory = load(history, store.as_ref(), &recall).await?;
    let context = WorkerContext::new(store.clone(), recall.clone(), None, None);
    run_until_idle(&context, &WorkerKind::ALL, &mut |_, _| {}).await?;
    for case in &history.cases {
        let mut previous: Option<(String, String)> = None;
        for prompt in case.after.iter().chain([&case.ask]) {
            let context = AnswerContext {
                core_memory: &core_memory,
                previous: previous.as_ref().map(|(question, answer)| (question.as_str(), answer.as_str())),
            };
            let answer = render_answer(&recall.answer(prompt, context).await, &TimeZone::UTC);
            previous = Some((prompt.clone(), answer));
        }
        let answer = previous.map(|(_, answer)| answer).unwrap_or_default();
        record(case, &answer, report);
    }
    store.close().await;
    Ok(())
}

fn record(case: &AnswerCase, answer: &str, report: &mut AnswersReport) {
    let is_correct = is_correct(case, answer);
    let category = report.categories.entry(case.category.clone()).or_default();
    let total = if case.absent { &mut report.abstained } else { &mut report.answered };
    for hits in [category, total] {
        hits.total += 1;
        hits.correct += usize::from(is_correct);
    }
    if !is_correct {
        report.failures.push(FailedCase {
            id: case.id.clone(),
            ask: case.ask.clone(),
            expected: (!case.absent)
                .then(|| case.first.iter().chain(&case.contains).cloned().collect::<Vec<_>>().join(" / ")),
            answer: answer.lines().next().unwrap_or_default().to_owned(),
        });
    }
}

fn is_correct(case: &AnswerCase, answer: &str) -> bool {
    if case.absent {
        return answer.starts_with(ABSENT);
    }
    let (first, all) = (answer.lines().next().unwrap_or_default().to_lowercase(), answer.to_lowercase());
    let is_in = |text: &str, part: &String| text.contains(&part.to_lowercase());
    (case.first.is_empty() || case.first.iter().any(|part| is_in(&first, part)))
        && !case.first_lacks.iter().any(|part| is_in(&first, part))
        && case.contains.iter().all(|part| is_in(&all, part))
        && !case.lacks.iter().any(|part| is_in(&all, part))
}

/// Stores the conversations, documents and core memory of a history. Returns core memory.
async fn load(
    history: &AnswerHistory,
    store: &dyn Store,
    recall: &Recall,
) -> Result<Vec<CoreEntry>, Failure> {
    for conversation in &history.conversations {
        let started = data::parse_time(&conversation.started)?;
        let new = NewConversation { title: conversation.title.clone(), scope: PROJECT.to_owned() };
        let mut target = ConversationTarget::New(new);
        for (number, pair) in conversation.messages.chunks(2).enumerate() {
            let draft = data::to_exchange(pair, started, number, "user");
            target = store.commit_exchange(&target, &draft).await?.to_target();
        }
    }
    let size = recall.settings.chunk_size();
    for document in &history.documents {
        let title =
            document.text.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned();
        let new = NewDocument {
            slug: document.name.trim_end_matches(".md").to_owned(),
            title,
            date: document.date.clone(),
            tags: Vec::new(),
            kind: DocumentKind::File,
            source: document.name.clone(),
            hash: document.name.clone(),
            text: document.text.clone(),
            written_from: Vec::new(),
        };
        let split = move |text: &str| split_into_chunks(text, size);
        store.put_document(&new, &split, recall.clock.now()).await?;
    }
    for entry in store.core_memory(PROJECT).await? {
        if let Some(text) = history.core_memory.user.as_ref().filter(|_| entry.block == CoreBlock::User) {
            let change = CoreChange {
                previous: entry,
                text: text.clone(),
                author: ChangedBy::User,
                created: recall.clock.now(),
            };
            store.change_core_memory(PROJECT, &change).await?;
        }
    }
    Ok(store.core_memory(PROJECT).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_correct_if_its_first_line_answers() {
        let case = AnswerCase {
            id: "1".into(),
            category: "state".into(),
            ask: "Which oven?".into(),
            first: vec!["wachtel".into()],
            first_lacks: vec!["Bongard".into()],
            ..AnswerCase::default()
        };
        assert!(is_correct(&case, "We have a Wachtel.\nThe Bongard is gone."));
        assert!(!is_correct(&case, "The Bongard left, the Wachtel came."));
        assert!(!is_correct(&case, "An oven.\nA Wachtel."));
        let absent = AnswerCase { absent: true, ..AnswerCase::default() };
        assert!(is_correct(&absent, "Nothing in memory about this.\nRelated: x"));
        assert!(!is_correct(&absent, "A Wachtel."));
    }
}
