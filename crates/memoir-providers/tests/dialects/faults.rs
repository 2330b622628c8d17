//! The fault table: the error that every provider must return for every fault.

use std::time::Duration;

use futures::StreamExt as _;
use memoir_models::{ChatEvent, ChatModel, ModelError};
use memoir_providers::{CallOptions, RetryPolicy, RetryingModel};
use memoir_testkit::{Reply, ScriptedProvider, WAIT_TIMEOUT};
use serde_json::json;

use crate::{KEY, MODELS, call, model, model_at, request};

/// Timeout for replies that stop sending. Other faults use a long one, so that a slow test machine does not trigger it.
const IDLE: Duration = Duration::from_millis(150);

async fn fault(each: &str, reply: Reply) -> ModelError {
    fail_within(each, reply, WAIT_TIMEOUT).await
}

async fn fail_within(each: &str, reply: Reply, idle_timeout: Duration) -> ModelError {
    let provider = ScriptedProvider::start([reply]);
    let options = CallOptions { idle_timeout, ..CallOptions::default() };
    call(&*model_at(each, provider.root_url(), options), request("Hi")).await.unwrap_err()
}

macro_rules! assert_fault {
    ($reply:expr, $pattern:pat $(if $guard:expr)?) => {
        for each in MODELS {
            let error = fault(each, $reply).await;
            assert!(matches!(&error, $pattern $(if $guard)?), "{each}: {error:?}");
        }
    };
}

#[tokio::test]
async fn statuses_are_classified() {
    assert_fault!(Reply::status(400, "no"), ModelError::BadRequest { status: 400, message } if message == "no");
    assert_fault!(Reply::status(401, "no"), ModelError::Authentication { status: 401, .. });
    assert_fault!(Reply::status(403, "no"), ModelError::Forbidden { .. });
    assert_fault!(Reply::status(404, "no"), ModelError::NotFound { .. });
    assert_fault!(Reply::status(413, "no"), ModelError::ContextTooLong { .. });
    assert_fault!(Reply::status(413, "prompt is too long"), ModelError::ContextTooLong { .. });
    assert_fault!(Reply::status(400, "maximum context length is 8"), ModelError::ContextTooLong { .. });
    assert_fault!(Reply::status(429, "slow"), ModelError::RateLimited { retry_after: None, .. });
    let wait = Duration::from_secs(7);
    let limited = || Reply::status(429, "slow").header("retry-after", "7");
    assert_fault!(limited(), ModelError::RateLimited { retry_after, .. } if *retry_after == Some(wait));
    for status in [500, 503, 529] {
        assert_fault!(Reply::status(status, "oh"), ModelError::Server { status: reported, .. } if *reported == status);
    }
    assert_fault!(Reply::status(503, "Loading model"), ModelError::Loading);
    assert_fault!(Reply::status(400, "maximum context length is 8192"), ModelError::ContextTooLong { limit, .. } if *limit == Some(8192));
    assert_fault!(Reply::status(500, "image input is not supported"), ModelError::ImagesRejected { .. });
    assert_fault!(
        Reply::status_with_body(502, "<html><h1>Bad gateway</h1></html>"),
        ModelError::Server { status: 502, message, .. } if message.contains("Bad gateway")
    );
}

#[tokio::test]
async fn a_key_quoted_by_the_server_is_redacted_even_at_the_cut() {
    for each in MODELS {
        for filler in [0, 270, 290] {
            let message = format!("{} {KEY} is wrong", "x".repeat(filler));
            let error = fault(each, Reply::status(401, &message)).await;
            assert!(!format!("{error:?} {error}").contains("key-never"), "{each}: {error:?}");
        }
    }
}

#[tokio::test]
async fn the_servers_retry_after_is_honored() {
    for each in MODELS {
        let provider = ScriptedProvider::always(Reply::status(429, "slow").header("retry-after", "17"));
        let model = retrying(each, &provider, Duration::from_millis(1));
        let first = model.stream(request("Hi")).await.unwrap().next().await.unwrap().unwrap();
        assert!(
            matches!(first, ChatEvent::Retrying { wait, .. } if wait == Duration::from_secs(17)),
            "{each}: {first:?}"
        );
    }
}

/// The reply of each API to a request that is not streamed.
fn whole_reply(each: &str) -> serde_json::Value {
    match each.split('/').next() {
        Some("anthropic") => json!({
            "type": "message", "content": [{"type": "text", "text": "not streamed"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 7, "output_tokens": 3},
        }),
        Some("google") => json!([{
            "candidates": [{"content": {"parts": [{"text": "not streamed"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3},
        }]),
        Some("openai") if each.contains("gpt-6") => json!({
            "object": "response", "error": null, "incomplete_details": null,
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "not streamed"}]}],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        }),
        Some("ollama") => json!({
            "message": {"content": "not streamed"}, "done": true, "prompt_eval_count": 7, "eval_count": 3,
        }),
        _ => json!({
            "choices": [{"message": {"content": "not streamed"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        }),
    }
}

#[tokio::test]
async fn a_reply_that_is_not_streamed_is_accepted() {
    for each in MODELS {
        let provider =
            ScriptedProvider::start([Reply::status_with_body(200, &whole_reply(each).to_string())]);
        let outcome = call(&*model(each, &provider), request("Hi")).await.unwrap();
        assert_eq!(outcome.text, "not streamed", "{each}");
        assert_eq!((outcome.usage.input_tokens, outcome.usage.output_tokens), (7, 3), "{each}");
    }
}

#[tokio::test]
async fn a_body_of_another_kind_is_not_retried() {
    for each in MODELS {
        for body in ["{\"greeting\":\"hello\"}", "<html>Welcome</html>", "42"] {
            let provider =
                ScriptedProvider::start([Reply::status_with_body(200, body), Reply::text("not requested")]);
            let error =
                call(&retrying(each, &provider, Duration::from_millis(1)), request("Hi")).await.unwrap_err();
            assert!(matches!(error, ModelError::InvalidResponse(_)), "{each} {body}: {error:?}");
        }
    }
}

#[tokio::test]
async fn an_endless_line_is_an_error() {
    for each in MODELS {
        let provider = ScriptedProvider::start([Reply::text("").and_garbage(&"x".repeat(20 << 20))]);
        let error = call(&*model(each, &provider), request("Hi")).await.unwrap_err();
        assert_eq!(error, ModelError::InvalidResponse("it is too large".into()), "{each}");
    }
}

#[tokio::test]
async fn a_stream_that_does_not_end_properly_is_an_error() {
    assert_fault!(Reply::text("half an ans").disconnected(), ModelError::Truncated);
    assert_fault!(Reply::text("half an ans").closed(), ModelError::Truncated);
    for each in MODELS {
        for reply in [Reply::text("half an ans").stalled(), Reply::never()] {
            let error = fail_within(each, reply, IDLE).await;
            assert!(matches!(error, ModelError::IdleTimeout { after } if after == IDLE), "{each}: {error:?}");
        }
    }
}

#[tokio::test]
async fn invalid_json_is_an_error() {
    let garbage = || Reply::text("well ").and_garbage("event: content_block_delta\ndata: {not json\n\n");
    for each in MODELS {
        let error = fault(each, garbage()).await;
        assert!(matches!(error, ModelError::InvalidResponse(_)), "{each}: {error:?}");
    }
}

#[tokio::test]
async fn a_filtered_answer_is_an_error() {
    for each in MODELS.iter().filter(|each| !each.starts_with("ollama")) {
        let error = fault(each, Reply::text("I would").filtered()).await;
        assert_eq!(error, ModelError::ContentFilter, "{each}");
    }
}

#[tokio::test]
async fn invalid_arguments_and_empty_answers_are_passed_through() {
    for each in MODELS {
        let provider = ScriptedProvider::start([
            Reply::text("").and_raw_tool_call("c", "look", "{\"at\": "),
            Reply::text(""),
        ]);
        let model = model(each, &provider);
        let outcome = call(&*model, request("Hi")).await.unwrap();
        assert!(outcome.calls[0].arguments.is_string(), "{each}: {:?}", outcome.calls);
        let outcome = call(&*model, request("Hi")).await.unwrap();
        assert!(outcome.text.is_empty() && outcome.calls.is_empty(), "{each}");
    }
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    for each in MODELS {
        let closed_port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let model = model_at(each, format!("http://user:hidden@{closed_port}"), CallOptions::default());
        let error = call(&*model, request("Hi")).await.unwrap_err();
        assert!(matches!(error, ModelError::Unreachable { .. }), "{each}: {error:?}");
        assert!(!error.to_string().contains("hidden"), "{error}");
    }
}

struct Shared(Box<dyn ChatModel>);

#[async_trait::async_trait]
impl ChatModel for Shared {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn stream(
        &self,
        request: memoir_models::ChatRequest,
    ) -> Result<memoir_models::ChatStream, ModelError> {
        self.0.stream(request).await
    }

    fn cost(&self, usage: &memoir_core::Usage) -> Option<memoir_core::Usd> {
        self.0.cost(usage)
    }
}

fn retrying(each: &str, provider: &ScriptedProvider, first_wait: Duration) -> RetryingModel<Shared> {
    let policy = RetryPolicy { first_wait, ..RetryPolicy::default() };
    RetryingModel::new(Shared(model(each, provider)), policy)
}

#[tokio::test]
async fn transient_faults_are_retried() {
    for each in MODELS {
        let provider = ScriptedProvider::start([
            Reply::status(429, "slow").header("retry-after", "0"),
            Reply::status(503, "busy"),
            Reply::status(529, "overloaded"),
            Reply::text("").disconnected(),
            Reply::text("At last."),
        ]);
        let outcome =
            call(&retrying(each, &provider, Duration::from_millis(1)), request("Hi")).await.unwrap();
        assert_eq!(outcome.text, "At last.", "{each}");
        assert_eq!(provider.requests().len(), 5, "{each}");
    }
}

#[tokio::test]
async fn permanent_faults_and_partial_answers_are_not_retried() {
    for each in MODELS {
        for reply in
            [Reply::status(401, "no"), Reply::status(400, "no"), Reply::text("half an ").disconnected()]
        {
            let provider = ScriptedProvider::start([reply, Reply::text("not requested")]);
            call(&retrying(each, &provider, Duration::from_millis(1)), request("Hi")).await.unwrap_err();
            assert_eq!(provider.requests().len(), 1, "{each}");
        }
    }
}

#[tokio::test]
async fn retries_are_limited() {
    for each in MODELS {
        let provider = ScriptedProvider::always(Reply::status(503, "down"));
        let model = retrying(each, &provider, Duration::from_millis(1));
        let error = call(&model, request("Hi")).await.unwrap_err();
        assert!(matches!(error, ModelError::Server { status: 503, .. }), "{each}: {error:?}");
        assert_eq!(provider.requests().len(), 1 + RetryPolicy::default().max_retries, "{each}");
    }
}

/// A turn is cancelled by dropping the stream. This must take effect immediately, wherever the call is stuck.
#[tokio::test]
async fn a_stuck_call_is_cancelled_immediately() {
    let stuck_replies = [
        Reply::text("half an ").stalled(),
        Reply::never(),
        Reply::status(429, "slow").header("retry-after", "60"),
        Reply::status(503, "busy"),
    ];
    for each in MODELS {
        for reply in &stuck_replies {
            let provider = ScriptedProvider::always(reply.clone());
            let model = retrying(each, &provider, Duration::from_secs(60));
            let task = tokio::spawn(async move {
                let mut stream = model.stream(request("Hi")).await.unwrap();
                while let Some(event) = stream.next().await {
                    assert!(
                        matches!(event, Ok(ChatEvent::Text(_) | ChatEvent::Retrying { .. })),
                        "{event:?}"
                    );
                }
            });
            let wait = move || {
                provider.wait_for_requests(1);
                provider
            };
            // The server must not stop before the call is cancelled.
            let _provider = tokio::task::spawn_blocking(wait).await.unwrap();
            task.abort();
            // Every reply is stuck for at least a minute.
            let result = tokio::time::timeout(Duration::from_secs(50), task).await;
            assert!(result.unwrap().unwrap_err().is_cancelled(), "{each}: {reply:?}");
        }
    }
}
