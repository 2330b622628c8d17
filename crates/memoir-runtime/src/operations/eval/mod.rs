//! Measuring the quality of recall and of answers on files of conversations and questions.

mod answers;
mod data;
mod measure;

use std::{
    collections::HashMap,
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use memoir_core::{Clock, ConversationTarget, MessageId, NewConversation, TimeZone, Timestamp, WorkerKind};
use memoir_embed::LocalEmbedder;
use memoir_recall::{QueryKind, Recall, RecallSettings, StageName, TermName};
use memoir_store::{Exchanges, Filter};
use memoir_workers::{WorkerContext, run_until_idle};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Progress, ProgressUnit, database};
use crate::failure::Failure;

pub use answers::{AnswersReport, AnswersRequest, FailedCase, measure_answers};
use data::{EvalConversation, Turn};
use measure::Measurement;
pub use measure::{CUTOFFS, CategoryScores, Hits};

const RANK_LIMIT: usize = 60;

/// Search method to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// Search by keywords and embeddings.
    #[default]
    Hybrid,
    /// Search by embeddings only.
    Dense,
    /// Search by keywords only.
    Keyword,
}

impl SearchMode {
    /// All search modes, in the order in which `--help` lists them.
    pub const ALL: [Self; 3] = [Self::Hybrid, Self::Dense, Self::Keyword];

    /// Returns the name of the mode.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Dense => "dense",
            Self::Keyword => "keyword",
        }
    }
}

/// Request to measure recall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalRequest {
    /// JSON files with conversations and questions, each one data set.
    pub data: Vec<PathBuf>,
    /// File to write the rankings to, as one JSON object per line and question.
    pub out: PathBuf,
    /// Search method to evaluate.
    #[serde(default)]
    pub mode: SearchMode,
    /// Names of recall stages and scoring terms to disable, to measure what they contribute.
    #[serde(default)]
    pub without: Vec<String>,
}

impl EvalRequest {
    fn settings(&self) -> Result<RecallSettings, Failure> {
        let mut settings = RecallSettings::default();
        for name in &self.without {
            match (name.parse::<StageName>(), name.parse::<TermName>()) {
                (Ok(stage), _) => settings.stages.retain(|other| *other != stage),
                (_, Ok(term)) => settings.terms.retain(|other| *other != term),
                (Err(stages), Err(terms)) => {
                    return Err(Failure::usage(format!(
                        "\"{name}\" is neither a recall stage nor a scoring term"
                    ))
                    .hint(format!(
                        "The stages are {}. The terms are {}.",
                        stages.valid_names.join(", "),
                        terms.valid_names.join(", ")
                    )));
                }
            }
        }
        let disabled_stage = match self.mode {
            SearchMode::Hybrid => None,
            SearchMode::Dense => Some(StageName::SearchWords),
            SearchMode::Keyword => Some(StageName::EmbedQuery),
        };
        settings.stages.retain(|stage| Some(*stage) != disabled_stage);
        Ok(settings)
    }
}

/// Measured quality of recall.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalReport {
    /// Results for each data set, in the order of the request.
    pub sets: Vec<SetReport>,
    /// Mean time to rank the turns of a question, in milliseconds.
    pub milliseconds_per_question: f64,
}

/// Measured quality of recall on one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetReport {
    /// Name of the file, without its extension.
    pub name: String,
    /// Mean scores over all questions, followed by those of each category.
    pub scores: Vec<CategoryScores>,
    /// Questions with an answer in the data. Correct if at least one passage is recalled.
    pub answerable: Hits,
    /// Questions without an answer in the data. Correct if no passage is recalled.
    pub unanswerable: Hits,
}

/// Loads each conversation into a new database in `temporary`, searches it for each question and scores the rankings.
///
/// # Errors
///
/// Fails if a stage or term does not exist, if the data cannot be read, or if the rankings cannot be written.
pub async fn measure_recall(
    request: &EvalRequest,
    temporary: &Path,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<EvalReport, Failure> {
    let settings = request.settings()?;
    // Read every file before the first one is measured, because measuring takes minutes.
    let sets = request.data.iter().map(|path| data::read(path)).collect::<Result<Vec<_>, _>>()?;
    let mut rankings = BufWriter::new(File::create(&request.out)?);
    let mut reports = Vec::new();
    let mut time = Duration::ZERO;
    let (mut done, total) = (0, Some(sets.iter().map(Vec::len).sum::<usize>() as u64));
    for (path, conversations) in request.data.iter().zip(&sets) {
        let mut measurement = Measurement::default();
        for conversation in conversations {
            progress(Progress { unit: ProgressUnit::Conversations, done, total });
            let home = temporary.join(format!("memoir-eval-{}-{done}", std::process::id()));
            let result = evaluate(conversation, &home, &settings, &mut rankings, &mut measurement).await;
            if let Err(error) = std::fs::remove_dir_all(&home) {
                tracing::warn!(%error, "could not remove a temporary database");
            }
            time += result?;
            done += 1;
        }
        reports.push(SetReport {
            name: path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            scores: measurement.scores(),
            answerable: measurement.answerable,
            unanswerable: measurement.unanswerable,
        });
    }
    rankings.flush()?;
    let questions = sets.iter().flatten().map(|conversation| conversation.questions.len()).sum::<usize>();
    Ok(EvalReport {
        sets: reports,
        milliseconds_per_question: time.as_secs_f64() * 1000.0 / questions.max(1) as f64,
    })
}

/// A clock fixed to the day after a conversation ended, so that "in May" means the last May before it.
struct DayAfter(Timestamp);

impl Clock for DayAfter {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.as_millis() + 24 * 60 * 60 * 1000)
    }
}

/// Evaluates one conversation. Returns the time spent on ranking.
async fn evaluate(
    conversation: &EvalConversation,
    home: &Path,
    settings: &RecallSettings,
    rankings: &mut (impl Write + Send),
    measurement: &mut Measurement,
) -> Result<Duration, Failure> {
    let store = database::open(&home.join("memoir.db")).await?;
    let clock = Arc::new(DayAfter(conversation.end_time()?));
    let mut recall = Recall::new(store.clone(), Arc::new(LocalEmbedder), clock, TimeZone::UTC);
    recall.settings = settings.clone();
    let turns = load(conversation, store.as_ref()).await?;
    // Run the workers as on a machine without a model: they quote instead of summarizing, and embed everything.
    let context = WorkerContext::new(store.clone(), recall.clone(), None, None);
    run_until_idle(&context, &WorkerKind::ALL, &mut |_, _| {}).await?;
    let mut time = Duration::ZERO;
    for question in &conversation.questions {
        let started = Instant::now();
        let ranking = recall.rank(&question.question, Filter::default(), RANK_LIMIT).await?;
        time += started.elapsed();
        let ids: Vec<&str> =
            ranking.iter().filter_map(|message| turns.get(&message.outline.id)).copied().collect();
        writeln!(rankings, "{}", json!({"question_id": question.id, "ranked": ids}))?;
        measurement.add(&question.category, &ids, &question.evidence);
        let recollection = recall.ask(&question.question, QueryKind::Prompt, Filter::default()).await;
        measurement.add_prompt(recollection.passages.len(), &question.evidence);
    }
    store.close().await;
    Ok(time)
}

/// Stores every session as a conversation. Returns the turn id of each message.
async fn load<'a>(
    conversation: &'a EvalConversation,
    store: &dyn Exchanges,
) -> Result<HashMap<MessageId, &'a str>, Failure> {
    let first_turn = conversation.sessions.first().and_then(|session| session.turns.first());
    let first_speaker = first_turn.map(|turn| turn.speaker.as_str()).unwrap_or_default();
    let mut turns = HashMap::new();
    for session in &conversation.sessions {
        let new = NewConversation {
            title: session.session_id.clone(),
            scope: conversation.conversation_id.clone(),
        };
        let mut target = ConversationTarget::New(new);
        for (number, pair) in session.turns.chunks(2).enumerate() {
            let draft = data::to_exchange(pair, session.time()?, number, first_speaker);
            let committed = store.commit_exchange(&target, &draft).await?;
            target = committed.to_target();
        }
        if let ConversationTarget::Existing { conversation: id, .. } = target {
            let messages = store.messages(id, u32::MAX).await?;
            let ids = session.turns.iter().map(|turn: &Turn| turn.id.as_str());
            turns.extend(messages.iter().map(|message| message.id).zip(ids));
        }
    }
    Ok(turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_and_names_disable_stages_and_terms() {
        let request = |mode, without: &[&str]| EvalRequest {
            data: Vec::new(),
            out: PathBuf::new(),
            mode,
            without: without.iter().map(|name| (*name).to_owned()).collect(),
        };
        let settings = request(SearchMode::Keyword, &["length"]).settings().unwrap_or_default();
        assert!(!settings.stages.contains(&StageName::EmbedQuery));
        assert!(settings.stages.contains(&StageName::SearchWords));
        assert!(!settings.terms.contains(&TermName::Length));
        assert!(request(SearchMode::Hybrid, &["magic"]).settings().is_err());
    }
}
