//! Tests that every provider must pass.

use memoir_core::{Usage, Usd};
use memoir_models::{ChatMessage, ChatModel as _, StopReason, ToolResult};
use memoir_providers::{CallOptions, Endpoint, RemoteModel};
use memoir_testkit::{Reply, ReportedUsage, ScriptedProvider};
use serde_json::{Value, json};

use crate::{MODELS, Outcome, call, model, name, request};

#[tokio::test]
async fn answers_are_streamed_completely() {
    for each in MODELS {
        let provider = ScriptedProvider::start([Reply::text("Hello there, old friend.")]);
        let outcome = call(&*model(each, &provider), request("Hi")).await.unwrap();
        assert_eq!(outcome.text, "Hello there, old friend.", "{each}");
        assert!(outcome.pieces >= 4, "{each}: {} pieces", outcome.pieces);
        assert_eq!(outcome.stop, Some(StopReason::Done), "{each}");
        let body = provider.requests()[0].body.to_string();
        assert!(
            body.contains("Be brief.") && body.contains("\"Hi\"") && body.contains("\"look\""),
            "{each}: {body}"
        );
    }
}

#[tokio::test]
async fn requests_contain_the_bare_model_name() {
    for each in MODELS {
        let provider = ScriptedProvider::start([Reply::text("yes")]);
        call(&*model(each, &provider), request("Hi")).await.unwrap();
        let request = &provider.requests()[0];
        let requested = request.body["model"].as_str().map_or_else(|| request.path.clone(), str::to_owned);
        assert!(requested.contains(&name(each).model), "{each}: {requested}");
    }
}

#[tokio::test]
async fn no_tools_are_sent_to_a_model_that_does_not_support_them() {
    let provider = ScriptedProvider::start([Reply::text("yes")]);
    let name = name("openai/without-tools");
    let endpoint = Endpoint::new(name.provider, provider.root_url(), None).unwrap();
    let info = json!({"name": "without-tools", "provider": "openai", "tools": false});
    let info = serde_json::from_value(info).unwrap();
    let model = RemoteModel::new(&name, &endpoint, Some(info), CallOptions::default()).unwrap();
    call(&model, request("Hi")).await.unwrap();
    assert!(provider.requests()[0].body.get("tools").is_none());
    assert!(provider.requests()[0].headers.get("authorization").is_none(), "there is no key");
}

#[tokio::test]
async fn an_answer_at_the_output_limit_stops_with_length() {
    for each in MODELS {
        let provider = ScriptedProvider::start([Reply::text("This goes on and").length_limited()]);
        let outcome = call(&*model(each, &provider), request("Hi")).await.unwrap();
        assert_eq!(outcome.stop, Some(StopReason::Length), "{each}");
    }
}

#[tokio::test]
async fn characters_split_between_chunks_are_reassembled() {
    for each in MODELS {
        for size in [1, 2, 3, 7] {
            let provider = ScriptedProvider::start([Reply::text("Grüße 🌍 世界 ❤️‍🔥").in_chunks_of(size)]);
            let outcome = call(&*model(each, &provider), request("Hi")).await.unwrap();
            assert_eq!(outcome.text, "Grüße 🌍 世界 ❤️‍🔥", "{each} in chunks of {size}");
        }
    }
}

/// Sends the results of the calls in `outcome` and returns the body of that request.
async fn continue_with_results(each: &str, provider: &ScriptedProvider, outcome: Outcome) -> Value {
    let results = outcome.calls.iter().map(|call| ToolResult {
        call_id: call.id.clone(),
        tool_name: call.name.clone(),
        text: format!("seen {}", call.arguments["at"].as_str().unwrap()),
        images: Vec::new(),
    });
    let mut next = request("Look at both");
    next.messages.push(ChatMessage::ToolResults(results.collect()));
    next.messages.insert(
        1,
        ChatMessage::Assistant { text: outcome.text, tool_calls: outcome.calls, replay: outcome.replay },
    );
    let answer = call(&*model(each, provider), next).await.unwrap();
    assert_eq!(answer.text, "Both seen.", "{each}");
    provider.requests()[1].body.clone()
}

/// Returns the tool calls and results in a request, in order, wherever the API puts them.
fn calls_and_results(body: &Value) -> (Vec<Value>, Vec<Value>) {
    fn walk(value: &Value, calls: &mut Vec<Value>, results: &mut Vec<Value>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| walk(item, calls, results)),
            Value::Object(fields) => {
                let kind = fields.get("type").and_then(Value::as_str);
                if matches!(kind, Some("tool_use" | "function_call"))
                    || fields.contains_key("functionCall")
                    || fields.contains_key("function")
                {
                    calls.push(value.clone());
                } else if matches!(kind, Some("tool_result" | "function_call_output"))
                    || fields.contains_key("functionResponse")
                    || fields.get("role").and_then(Value::as_str) == Some("tool")
                {
                    results.push(value.clone());
                } else {
                    fields.values().for_each(|field| walk(field, calls, results));
                }
            }
            _ => {}
        }
    }
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let messages = ["messages", "contents", "input"].iter().find_map(|field| body.get(field)).unwrap();
    walk(messages, &mut calls, &mut results);
    (calls, results)
}

#[tokio::test]
async fn two_calls_in_one_reply_and_their_results_are_sent_back() {
    for each in MODELS {
        let provider = ScriptedProvider::start([
            Reply::text("Let me see.")
                .and_tool_call("call_a", "look", &json!({"at": "alpha"}))
                .and_tool_call("call_b", "look", &json!({"at": "beta"})),
            Reply::text("Both seen."),
        ]);
        let outcome = call(&*model(each, &provider), request("Look at both")).await.unwrap();
        let calls: Vec<_> =
            outcome.calls.iter().map(|call| (call.name.as_str(), &call.arguments["at"])).collect();
        assert_eq!(calls, [("look", &json!("alpha")), ("look", &json!("beta"))], "{each}");
        assert_ne!(outcome.calls[0].id, outcome.calls[1].id, "{each}");
        let body = continue_with_results(each, &provider, outcome).await;
        let (calls, results) = calls_and_results(&body);
        assert_eq!((calls.len(), results.len()), (2, 2), "{each}: {body}");
        for (index, target) in ["alpha", "beta"].iter().enumerate() {
            let (call, result) = (calls[index].to_string(), results[index].to_string());
            assert!(call.contains(target), "{each}: {call}");
            assert!(result.contains(&format!("seen {target}")), "{each}: {result}");
        }
    }
}

#[tokio::test]
async fn thinking_is_sent_back_with_its_signature() {
    for each in MODELS {
        let provider = ScriptedProvider::start([
            Reply::thinking("I should look.", "SIGNED-BY-PROVIDER").and_tool_call(
                "call_a",
                "look",
                &json!({"at": "alpha"}),
            ),
            Reply::text("Both seen."),
        ]);
        let outcome = call(&*model(each, &provider), request("Look")).await.unwrap();
        assert_eq!(outcome.thinking, "I should look.", "{each}");
        assert_eq!(outcome.text, "", "{each}: thinking is not part of the answer");
        let body = continue_with_results(each, &provider, outcome).await.to_string();
        let has_signatures =
            matches!(each.split('/').next(), Some("anthropic" | "google")) || each == "openai/gpt-6.1-terra";
        assert_eq!(body.contains("SIGNED-BY-PROVIDER"), has_signatures, "{each}: {body}");
        if each.starts_with("anthropic") {
            let (thinking, call) = (body.find("\"thinking\"").unwrap(), body.find("tool_use").unwrap());
            assert!(thinking < call && body.contains("I should look."), "{body}");
        }
    }
}

#[tokio::test]
async fn reasoning_in_tags_is_not_part_of_the_answer() {
    for each in ["openai-compatible/qwen3-max", "ollama/test-model"] {
        let text = "<think>\nFirst I look around.\n</think>\n\nAll is well.";
        let provider = ScriptedProvider::start([Reply::text(text).in_chunks_of(7)]);
        let outcome = call(&*model(each, &provider), request("Look")).await.unwrap();
        assert_eq!(outcome.thinking.trim(), "First I look around.", "{each}");
        assert_eq!(outcome.text, "All is well.", "{each}");
    }
}

#[tokio::test]
async fn usage_is_uniform_and_costs_are_exact() {
    for (each, cache_write, reasoning, nanos) in [
        // Uncached, cache-read, cache-written and output tokens, each at its own price.
        ("anthropic/claude-sonnet-4-5", 100, 50, 500 * 3000 + 400 * 300 + 100 * 3750 + 200 * 15_000),
        ("google/gemini-2.5-pro", 0, 50, 600 * 1250 + 400 * 125 + 200 * 10_000),
        ("openai/gpt-5", 0, 50, 600 * 1250 + 400 * 125 + 200 * 10_000),
        ("openai/gpt-6.1-terra", 0, 50, 600 * 1000 + 400 * 50 + 200 * 5000),
        ("xai/grok-3", 0, 0, 600 * 3000 + 400 * 750 + 200 * 15_000),
        ("ollama/test-model", 0, 0, 0),
    ] {
        let reported = ReportedUsage { input: 1000, output: 200, cached: 400, cache_write, reasoning };
        let provider = ScriptedProvider::start([Reply::text("Counted.").full_usage(reported)]);
        let model = model(each, &provider);
        let outcome = call(&*model, request("Count")).await.unwrap();
        let expected = Usage {
            input_tokens: 1000,
            output_tokens: 200,
            cached_tokens: 400,
            cache_write_tokens: cache_write,
            reasoning_tokens: reasoning,
        };
        assert_eq!(outcome.usage, expected, "{each}");
        assert_eq!(model.cost(&outcome.usage), Some(Usd::from_nanos(nanos)), "{each}");
    }
}

#[tokio::test]
async fn an_unknown_price_is_unknown() {
    let provider = ScriptedProvider::start([]);
    let usage = Usage { input_tokens: 1000, ..Usage::default() };
    assert_eq!(model("openai/unheard-of", &provider).cost(&usage), None);
    // A server with a key may be a gateway, even on this machine.
    assert_eq!(model("openai-compatible/qwen3-max", &provider).cost(&usage), None);
    let (name, url) = (name("openai-compatible/qwen3-max"), provider.root_url());
    let endpoint = Endpoint::new(name.provider, url, None).unwrap();
    let local = RemoteModel::new(&name, &endpoint, None, CallOptions::default()).unwrap();
    assert_eq!(local.cost(&usage), Some(Usd::ZERO), "a local server is free");
}
