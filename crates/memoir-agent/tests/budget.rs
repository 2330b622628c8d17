//! Property test: whatever the memory, the project and the settings contain, a request fits, and no layer is dropped
//! without need.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::Arc;

use memoir_agent::{Agent, AgentState, ContextSettings, CurrentConversation, Placement, TurnEvent};
use memoir_core::{
    ChangedBy, ConversationId, CoreBlock, CoreChange, CoreEntry, Digest, SystemClock, TimeZone, Timestamp,
    count_tokens,
};
use memoir_embed::LocalEmbedder;
use memoir_models::{ChatMessage, ChatRequest, ModelLimits};
use memoir_recall::Recall;
use memoir_store::{CoreMemory as _, Digests as _, Exchanges as _, contract};
use memoir_store_sqlite::SqliteStore;
use memoir_testkit::fakes::FakeModel;
use memoir_tools::{ToolContext, ToolSet};
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Clone)]
struct Case {
    settings: ContextSettings,
    context: Option<u64>,
    exchanges: Vec<(usize, usize)>,
    agents: usize,
    core: [usize; 3],
    prompt: usize,
    recall: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let settings = (1000_u64..20_000, 100_u64..6000, 0_u64..3000, 100_u64..2000, any::<bool>()).prop_map(
        |(budget_tokens, reply_tokens, recall_tokens, summary_tokens, tail)| ContextSettings {
            budget_tokens,
            reply_tokens,
            recall_tokens,
            summary_tokens,
            recall_placement: if tail { Placement::Tail } else { Placement::BeforeWindow },
            ..ContextSettings::default()
        },
    );
    let context = prop_oneof![Just(None), (600_u64..4000).prop_map(Some), (4000_u64..300_000).prop_map(Some)];
    let length = || prop_oneof![4 => 1_usize..60, 1 => 60_usize..600, 1 => 600_usize..4000];
    let exchanges = prop::collection::vec((length(), length()), 0..40);
    (
        settings,
        context,
        exchanges,
        0_usize..8000,
        [0_usize..300, 0_usize..300, 0_usize..300],
        length(),
        any::<bool>(),
    )
        .prop_map(|(settings, context, exchanges, agents, core, prompt, recall)| Case {
            settings,
            context,
            exchanges,
            agents,
            core,
            prompt,
            recall,
        })
}

fn words(count: usize, seed: usize) -> String {
    const WORDS: [&str; 7] = ["boiler", "Lisbon", "marble", "umbrella", "ukulele", "naïve", "日本"];
    (0..count).map(|n| WORDS[(n * 3 + seed) % 7]).collect::<Vec<_>>().join(" ")
}

fn size(request: &ChatRequest) -> u64 {
    let mut text = request.system.clone();
    for message in &request.messages {
        match message {
            ChatMessage::User { text: part, .. } | ChatMessage::Assistant { text: part, .. } => {
                text.push_str(part)
            }
            ChatMessage::ToolResults(results) => {
                results.iter().for_each(|result| text.push_str(&result.text))
            }
        }
    }
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| count_tokens(&format!("{} {}", tool.description, tool.parameters)))
        .sum();
    (count_tokens(&text) + tools) as u64
}

/// Runs two turns. Returns their requests, and the digest after the first one.
async fn run_turns(
    case: &Case,
    directory: &TempDir,
) -> (SqliteStore, Option<ConversationId>, Vec<ChatRequest>, Option<Digest>) {
    let store = SqliteStore::open(&directory.path().join("memoir.db")).await.unwrap();
    std::fs::create_dir(directory.path().join("work")).unwrap();
    std::fs::write(directory.path().join("work/AGENTS.md"), words(case.agents, 2)).unwrap();
    for (block, length) in CoreBlock::ALL.into_iter().zip(case.core) {
        let previous = CoreEntry { block, text: String::new(), version: 0 };
        let text = words(length, 1);
        let change =
            CoreChange { previous, text, author: ChangedBy::User, created: Timestamp::from_millis(1) };
        store.change_core_memory("/p", &change).await.unwrap();
    }
    // Other conversations about the same topics, so that recall finds passages.
    for number in 0..12 {
        let draft = contract::exchange(&words(40, number), &words(60, number + 3), 1);
        store.commit_exchange(&contract::new_conversation("elsewhere", "/q"), &draft).await.unwrap();
    }
    let mut target = contract::new_conversation("t", "/p");
    let mut conversation = None;
    for (number, (prompt_length, answer_length)) in case.exchanges.iter().enumerate() {
        let prompt = format!("question {number}: {}", words(*prompt_length, number));
        let answer = format!("answer {number}: {}", words(*answer_length, number + 1));
        let time = 1000 * i64::try_from(number).unwrap();
        let mut draft = contract::exchange(&prompt, &answer, time);
        draft
            .messages
            .iter_mut()
            .for_each(|message| message.tokens = count_tokens(message.body.text()) as u64);
        let committed = store.commit_exchange(&target, &draft).await.unwrap();
        conversation = Some(committed.conversation_id);
        target = committed.to_target();
    }
    let limits = ModelLimits { context: case.context, ..ModelLimits::default() };
    let mut recall =
        Recall::new(Arc::new(store.clone()), Arc::new(LocalEmbedder), Arc::new(SystemClock), TimeZone::UTC);
    recall.scope = Some("/p".into());
    recall.settings.enabled = case.recall;
    let shared = Arc::new(store.clone());
    let tool_context =
        ToolContext::new(&directory.path().join("work"), &[], shared.clone(), recall.clone()).unwrap();
    let agent = Arc::new(Agent::new(shared, tool_context));
    let current = match conversation {
        Some(id) => CurrentConversation::resume(&store, id, "/p").await.unwrap(),
        None => CurrentConversation::new("/p"),
    };
    let model = Arc::new(FakeModel::answering("ok").with_limits(limits));
    let mut state = AgentState::new(Arc::clone(&model) as _, ToolSet::all(), recall, current);
    state.context = case.settings.clone();
    let mut observer = |_: TurnEvent| {};
    agent.run_turn(&mut state, &prompt(case), &mut observer, &CancellationToken::new()).await.unwrap();
    let digest = match conversation {
        Some(id) => store.digest(id).await.unwrap(),
        None => None,
    };
    let next = "what about the boiler in Lisbon?";
    agent.run_turn(&mut state, next, &mut observer, &CancellationToken::new()).await.unwrap();
    (store, conversation, model.requests(), digest)
}

fn prompt(case: &Case) -> String {
    format!("now I will recieve the accomodation for the umbrela of it all: {}", words(case.prompt, 5))
}

/// Returns the number in a prompt like "question 3: ...".
fn question_number(text: &str) -> usize {
    text.split([' ', ':']).nth(1).unwrap().parse().unwrap()
}

async fn check(case: &Case) -> Result<(), TestCaseError> {
    let directory = TempDir::new().unwrap();
    let (store, conversation, requests, digest) = run_turns(case, &directory).await;
    let request = &requests[0];
    let model_limit = case.context.map_or(16_384, |context| context - context / 8).max(512);
    let limit = case.settings.budget_tokens.min(model_limit);
    let room = limit - case.settings.reply_tokens.min(limit / 4);

    // Every request fits.
    for request in &requests {
        prop_assert!(size(request) <= room, "{} of {room} tokens", size(request));
    }
    // The system prompt is included, and the prompt too, in full unless it takes more than half of the request.
    prop_assert!(request.system.starts_with("You are Memoir"));
    let Some(ChatMessage::User { text: last_message, .. }) = request.messages.last() else {
        panic!("the prompt is the last message")
    };
    let prompt = prompt(case);
    if (count_tokens(&prompt) as u64) + 40 < room / 2 {
        prop_assert!(last_message.ends_with(&prompt));
    } else {
        let end = &prompt[prompt.len() - 6..];
        prop_assert!(last_message.contains("now I will") && last_message.contains(end));
    }
    // The window contains the last exchanges, whole and in order.
    let window = &request.messages[..request.stable_messages];
    let questions: Vec<usize> = window
        .iter()
        .filter_map(|message| match message {
            ChatMessage::User { text, .. } => Some(question_number(text)),
            _ => None,
        })
        .collect();
    let first = case.exchanges.len() - questions.len();
    prop_assert_eq!(&questions, &(first..case.exchanges.len()).collect::<Vec<_>>());
    prop_assert_eq!(window.len(), 2 * questions.len());
    // The digest covers the exchanges that are not in the window.
    let exchanges = match conversation {
        Some(id) => store.exchanges(id, u32::MAX).await.unwrap(),
        None => Vec::new(),
    };
    let through = digest.as_ref().map(|digest| digest.through);
    prop_assert_eq!(through, first.checked_sub(1).map(|last| exchanges[last].id));
    prop_assert!(digest.is_none_or(|digest| !digest.summary.is_empty()));
    // Exchanges leave the window only if it is full: with the last one to leave, the request would not have fit.
    if first > 0 {
        let (prompt_length, answer_length) = case.exchanges[first - 1];
        let tokens = ((prompt_length + answer_length) as u64 * 3).min(room / 2);
        prop_assert!(size(request) + tokens + room * 2 / 3 > room, "{first} left the window without need");
    }
    // Passages are recalled only from exchanges that have left the window.
    let text = format!("{}{last_message}", request.system);
    let earlier = text.split_once("From earlier in this conversation:");
    prop_assert!(earlier.is_none() || (case.recall && first > 0 && case.settings.recall_tokens > 0));
    for line in earlier.map_or("", |(_, rest)| rest.split_once("</memory>").unwrap().0).lines() {
        if let Some((_, source)) = line.rsplit_once("(exchange ") {
            let id: i64 = source.split_once(',').unwrap().0.parse().unwrap();
            let index = exchanges.iter().position(|exchange| exchange.id.get() == id).unwrap();
            prop_assert!(index < first, "exchange {index} is in the window, which begins with {first}");
        }
    }
    // Core memory has priority over the window.
    if !questions.is_empty() && case.core[0] > 0 && room >= 3000 {
        prop_assert!(request.system.contains("<user>"));
    }
    store.close().await;
    Ok(())
}

/// The seed is fixed, so every run tests the same cases.
#[test]
fn every_request_fits_and_no_layer_is_dropped_without_need() {
    let config = ProptestConfig {
        cases: 24,
        failure_persistence: None,
        max_shrink_iters: 40,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runner.run(&cases(), |case| runtime.block_on(check(&case))).unwrap();
}
