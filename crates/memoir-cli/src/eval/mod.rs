//! `memoir eval`: how good recall is, on a file of conversations and questions.

mod data;
mod measure;

use std::{
    collections::HashMap,
    fs::File,
    io::{BufWriter, Write as _, stdout},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use memoir_core::{Clock, ConversationTarget, MessageId, NewConversation, TimeZone, Timestamp, WorkerKind};
use memoir_embed::LocalEmbedder;
use memoir_recall::{QueryKind, Recall, RecallSettings};
use memoir_store::{Filter, Store, StoreUrl};
use memoir_workers::{WorkerContext, run_until_idle};
use serde_json::json;

use data::{Talk, Turn};
use measure::Table;
use memoir_runtime::{failure::Failure, stores};

/// How many turns are ranked for a question.
const RANKED: usize = 60;

/// Loads each conversation of `data` into a fresh memory, asks its questions, writes what was found to `out` and
/// prints how good that is.
pub(crate) async fn recall(data: &Path, out: &Path, settings: RecallSettings) -> Result<(), Failure> {
    let talks = data::read(data)?;
    let mut predictions = BufWriter::new(File::create(out)?);
    let mut table = Table::default();
    let mut asking = Duration::ZERO;
    for (number, talk) in talks.iter().enumerate() {
        let home = std::env::temp_dir().join(format!("memoir-eval-{}-{number}", std::process::id()));
        let evaluated = evaluate(talk, &home, &settings, &mut predictions, &mut table).await;
        // What was made for this is gone afterwards, whatever happened.
        let _ = std::fs::remove_dir_all(&home);
        asking += evaluated?;
    }
    predictions.flush()?;
    write!(stdout(), "{table}")?;
    let questions = talks.iter().map(|talk| talk.questions.len()).sum::<usize>();
    let per_question = asking.as_secs_f64() * 1000.0 / questions.max(1) as f64;
    Ok(writeln!(stdout(), "{per_question:.1} ms per question")?)
}

/// Questions are asked the day after the talk ended: "in May" means the last May before that.
struct TheDayAfter(Timestamp);

impl Clock for TheDayAfter {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.as_millis() + 24 * 60 * 60 * 1000)
    }
}

async fn evaluate(
    talk: &Talk,
    home: &Path,
    settings: &RecallSettings,
    predictions: &mut impl std::io::Write,
    table: &mut Table,
) -> Result<Duration, Failure> {
    let url = StoreUrl::new("sqlite", home.join("memoir.db"));
    let store = stores::factory().open(&url).await?;
    let clock = Arc::new(TheDayAfter(talk.end()?));
    let mut recall = Recall::new(Arc::clone(&store), Arc::new(LocalEmbedder), clock, TimeZone::UTC);
    recall.settings = settings.clone();
    let turns = load(talk, recall.store.as_ref()).await?;
    // As the workers do it on a machine without a model: summaries by quotation, and vectors of everything.
    let office = WorkerContext::new(recall.clone(), None, None);
    run_until_idle(&office, &WorkerKind::ALL, &mut |_, _| {}).await?;
    let mut asking = Duration::ZERO;
    for question in &talk.questions {
        let started = Instant::now();
        let ranked = recall.rank(&question.question, Filter::default(), RANKED).await?;
        asking += started.elapsed();
        let ids: Vec<&str> =
            ranked.iter().filter_map(|found| turns.get(&found.outline.id)).copied().collect();
        writeln!(predictions, "{}", json!({"question_id": question.id, "ranked": ids}))?;
        table.add(&question.category, &ids, &question.evidence);
        let found = recall.ask(&question.question, QueryKind::Prompt, Filter::default()).await;
        table.add_prompt(found.passages.len(), &question.evidence);
    }
    store.close().await;
    Ok(asking)
}

/// Files every session as a conversation, through the same door as any talk.
async fn load<'a>(talk: &'a Talk, store: &dyn Store) -> Result<HashMap<MessageId, &'a str>, Failure> {
    let first =
        talk.sessions.first().and_then(|session| session.turns.first()).map(|turn| turn.speaker.as_str());
    let mut turns = HashMap::new();
    for session in &talk.sessions {
        let new = NewConversation { title: session.session_id.clone(), scope: talk.conversation_id.clone() };
        let mut target = ConversationTarget::New(new);
        for (number, pair) in session.turns.chunks(2).enumerate() {
            let draft = data::exchange(pair, session.moment()?, number, first.unwrap_or_default());
            let committed = store.commit_exchange(&target, &draft).await?;
            target = committed.to_target();
        }
        if let ConversationTarget::Existing { conversation: id, .. } = target {
            let messages = store.messages(id, u32::MAX).await?;
            turns.extend(
                messages
                    .iter()
                    .map(|message| message.id)
                    .zip(session.turns.iter().map(|turn: &Turn| turn.id.as_str())),
            );
        }
    }
    Ok(turns)
}
