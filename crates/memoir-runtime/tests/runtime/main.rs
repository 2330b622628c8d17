//! Uses the runtime as a front end does, with the scripted provider and without a terminal.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

#[path = "../../examples/ask.rs"]
#[expect(dead_code, reason = "the tests do not call the `main` function of the example")]
mod ask;
mod notices;
mod sessions;

use std::path::Path;

use memoir_runtime::{Runtime, RuntimeOptions, SessionOptions, environment::Environment, home::Home};
use memoir_testkit::{Reply, ScriptedProvider};
use tokio_util::sync::CancellationToken;

/// Returns an environment in which only `provider` is reachable.
fn environment(provider: &ScriptedProvider) -> Environment {
    let variables = [
        ("MEMOIR_MODEL", "openai-compatible/test".to_owned()),
        ("OPENAI_BASE_URL", provider.base_url()),
        ("MEMOIR_LOCAL_SERVERS", "none".to_owned()),
    ];
    Environment::new(variables.map(|(name, value)| (name.into(), value.into())))
}

async fn open(home: &Path, provider: &ScriptedProvider) -> Runtime {
    let options = RuntimeOptions::new(Home::in_directory(home.join("memoir")), environment(provider), home);
    Runtime::open(options).await.unwrap()
}

#[tokio::test]
async fn the_example_prints_the_answer_with_its_sources() {
    let home = tempfile::TempDir::new().unwrap();
    let provider = ScriptedProvider::start(["Noted.", "It is Miso."].map(Reply::text));
    let runtime = open(home.path(), &provider).await;
    let mut session = runtime.session(SessionOptions::default()).await.unwrap();
    session.turn("My cat is called Miso.", &mut |_| {}, &CancellationToken::new()).await.unwrap();
    session.close().await;
    runtime.close().await;

    let memory = home.path().join("memoir");
    let answer = ask::ask(&memory, environment(&provider), "What is my cat called?").await.unwrap();
    assert!(answer.starts_with("It is Miso.\n[conversation 1, "), "{answer}");
}
