//! Measures building a context for memories of different sizes: `cargo bench -p memoir-agent -- 1000 10000 100000
//! 1000000`.
//!
//! The prompt belongs to a conversation of 400 exchanges, most of which have left the window. The rest of the memory
//! consists of generated messages in other conversations.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "benchmarks print, and panic on errors")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use memoir_agent::{Agent, AgentState, CurrentConversation};
use memoir_core::{ConversationId, ConversationTarget, SystemClock, TimeZone, count_tokens};
use memoir_embed::LocalEmbedder;
use memoir_models::{ChatModel, ModelLimits};
use memoir_recall::Recall;
use memoir_store::{Exchanges as _, contract};
use memoir_store_sqlite::{SqliteStore, fill};
use memoir_testkit::fakes::FakeModel;
use memoir_tools::{ToolContext, ToolSet};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const EXCHANGES: i64 = 400;
const PROMPTS: u64 = 40;

/// Number of prompts that fill the caches before the measurement.
const WARM_UP: u64 = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    // `cargo test --benches` only checks that the benchmark builds.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let sizes: Vec<i64> = arguments.iter().filter_map(|size| size.parse().ok()).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    println!("{:>10}  {:>15}  {:>15}  {:>15}", "messages", "without recall", "with recall", "and auto-RAG");
    for size in if sizes.is_empty() { vec![1000, 10_000, 100_000] } else { sizes } {
        let directory = TempDir::new().unwrap();
        runtime.block_on(measure(directory.path(), size));
    }
}

async fn measure(directory: &Path, messages: i64) {
    let store = SqliteStore::open(&directory.join("memoir.db")).await.unwrap();
    store.fill_for_benchmark(messages / 2, fill::generate_text).await.unwrap();
    let random_vector = |number| fill::vector(number, memoir_embed::DIMENSIONS);
    store.fill_vectors_for_benchmark(memoir_embed::NAME, random_vector).await.unwrap();
    let conversation = long_conversation(&store).await;
    let recall =
        Recall::new(Arc::new(store.clone()), Arc::new(LocalEmbedder), Arc::new(SystemClock), TimeZone::UTC);
    let limits = ModelLimits { context: Some(200_000), ..ModelLimits::default() };
    let model = FakeModel::hanging().with_limits(limits);
    let model: Arc<dyn ChatModel> = Arc::new(model);
    let shared = Arc::new(store.clone());
    let tools = ToolContext::new(directory, &[], shared.clone(), recall.clone()).unwrap();
    let agent = Arc::new(Agent::new(shared, tools));
    let conversation = CurrentConversation::resume(&store, conversation, "/p").await.unwrap();
    let session =
        || AgentState::new(Arc::clone(&model), ToolSet::all(), recall.clone(), conversation.clone());
    let mut no_recall = session();
    no_recall.recall.settings.enabled = false;
    let mut recall_only = session();
    recall_only.context.recall_tokens = 0;
    let without_recall = median_time(&agent, no_recall, &store).await;
    let with_recall = median_time(&agent, recall_only, &store).await;
    let with_auto_rag = median_time(&agent, session(), &store).await;
    println!(
        "{messages:>10}  {:>12.2} ms  {:>12.2} ms  {:>12.2} ms",
        millis(without_recall),
        millis(with_recall),
        millis(with_auto_rag)
    );
    store.close().await;
}

async fn long_conversation(store: &SqliteStore) -> ConversationId {
    let mut target = contract::new_conversation("a long one", "/p");
    for number in 0..EXCHANGES {
        let (prompt, answer) = (fill::generate_text(number * 2), fill::generate_text(number * 2 + 1));
        let mut draft = contract::exchange(&prompt, &answer, number);
        draft
            .messages
            .iter_mut()
            .for_each(|message| message.tokens = count_tokens(message.body.text()) as u64);
        target = store.commit_exchange(&target, &draft).await.unwrap().to_target();
    }
    match target {
        ConversationTarget::Existing { conversation, .. }
        | ConversationTarget::Replace { conversation, .. } => conversation,
        ConversationTarget::New(_) => unreachable!("exchanges were committed"),
    }
}

/// Returns the median time of building a context, over [`PROMPTS`] prompts.
async fn median_time(agent: &Arc<Agent>, mut state: AgentState, store: &SqliteStore) -> Duration {
    // Run a turn first, because it stores the digest of the exchanges that have left the window; a preview would not.
    let cancel = CancellationToken::new();
    agent.run_turn(&mut state, "Go on.", &mut |_| {}, &cancel).await.unwrap_err();
    let mut times = Vec::new();
    for number in 0..PROMPTS + WARM_UP {
        let words = [150, 600, 3000].map(|rank| fill::word_of_rank(rank + number * 13));
        let prompt = format!("What did I say about {} and the {} {}?", words[0], words[1], words[2]);
        if number == WARM_UP {
            store.settle().await;
        }
        let started = Instant::now();
        agent.preview(&state, &prompt).await.unwrap();
        times.push(started.elapsed());
    }
    let mut times = times.split_off(WARM_UP as usize);
    times.sort();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
