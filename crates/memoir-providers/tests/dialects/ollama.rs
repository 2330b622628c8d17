//! Tests specific to Ollama, above all that a prompt is never silently truncated.

use memoir_models::{ChatMessage, ModelError};
use memoir_providers::{CallOptions, Reasoning};
use memoir_testkit::{Reply, ScriptedProvider};
use serde_json::{Value, json};

use crate::{call, model, model_at, request};

#[tokio::test]
async fn the_context_size_fits_the_request_and_only_grows() {
    let provider = ScriptedProvider::always(Reply::text("Yes."));
    let model = model("ollama/test-model", &provider);
    call(&*model, request("short")).await.unwrap();
    call(&*model, request(&"longer ".repeat(6000))).await.unwrap();
    call(&*model, request("short again")).await.unwrap();
    let sizes: Vec<_> =
        provider.requests().iter().map(|request| request.body["options"]["num_ctx"].clone()).collect();
    assert_eq!(sizes, [8192, 16384, 16384].map(|size| json!(size)));
    let paths: Vec<_> = provider.other_requests().iter().map(|request| request.path.clone()).collect();
    assert_eq!(paths, ["/api/show"], "capabilities are queried once");
}

#[tokio::test]
async fn a_server_that_does_not_describe_its_models_is_used() {
    let provider = ScriptedProvider::always(Reply::text("Yes."));
    let outcome = call(&*model("ollama/undescribed", &provider), request("Hi")).await.unwrap();
    assert_eq!(outcome.text, "Yes.");
}

#[tokio::test]
async fn a_request_beyond_the_context_window_is_an_error() {
    let provider = ScriptedProvider::always(Reply::text("Yes."));
    let error =
        call(&*model("ollama/test-model", &provider), request(&"word ".repeat(20_000))).await.unwrap_err();
    let ModelError::ContextTooLong { message, .. } = &error else { panic!("{error:?}") };
    assert!(message.contains("test-model accepts at most 16384"), "{message}");
    assert!(provider.requests().is_empty(), "the request was not sent");
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_reported() {
    let broken = Reply::text("well ").and_garbage(r#"{"error":"the model crashed"}"#);
    let provider = ScriptedProvider::start([broken]);
    let error = call(&*model("ollama/test-model", &provider), request("Hi")).await.unwrap_err();
    assert!(
        matches!(&error, ModelError::Server { message, .. } if message == "the model crashed"),
        "{error:?}"
    );
}

#[tokio::test]
async fn history_without_a_replay_is_sent_as_messages() {
    let provider = ScriptedProvider::start([Reply::text("Yes.")]);
    let mut next = request("one");
    next.messages.push(ChatMessage::Assistant { text: "two".into(), tool_calls: vec![], replay: None });
    next.messages.push(ChatMessage::user("three"));
    call(&*model("ollama/test-model", &provider), next).await.unwrap();
    let roles: Vec<_> = provider.requests()[0].messages().into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
}

#[tokio::test]
async fn reasoning_is_requested_as_the_model_takes_it() {
    let provider = ScriptedProvider::always(Reply::text("Yes."));
    let options = || CallOptions { reasoning: Some(Reasoning::Low), ..CallOptions::default() };
    for (name, expected) in [
        ("ollama/undescribed", json!(true)),
        ("ollama/gpt-oss:20b", json!("low")),
        ("ollama/test-model", Value::Null),
    ] {
        call(&*model_at(name, provider.root_url(), options()), request("Hi")).await.unwrap();
        assert_eq!(provider.requests().last().unwrap().body["think"], expected, "{name}");
    }
}
