//! Output formats for scripts.

use memoir_testkit::{Reply, ScriptedProvider};
use serde_json::{Value, json};

use crate::home;

#[test]
fn text_output_is_only_the_answer() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Just this.")]);
    let output = home.memoir(["-p", "hi"]).provider(&provider).output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Just this.\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn json_output_is_the_result() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Grüße 🌍").usage(20, 3, 8)]);
    let stdout = home.memoir(["-p", "hi", "--output-format", "json"]).provider(&provider).succeed();
    let mut result: Value = serde_json::from_str(&stdout).unwrap();
    assert!(result["duration_ms"].take().is_u64());
    assert_eq!(
        result,
        json!({
            "type": "result", "status": "completed", "stop_reason": "done", "conversation_id": 1, "exchange_id": 1, "text": "Grüße 🌍",
            "model": "openai/gpt-5.6-luna", "cost_usd": 6.16e-6, "duration_ms": null, "recalled": [],
            "request_count": 1, "tool_call_count": 0,
            "usage": {
                "input_tokens": 20, "output_tokens": 3, "cached_tokens": 8,
                "cache_write_tokens": 0, "reasoning_tokens": 0
            }
        })
    );
}

#[test]
fn stream_json_output_is_each_event_and_then_the_result() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "database_tables", &json!({})),
        Reply::text("Two words"),
    ]);
    let stdout = home.memoir(["-p", "hi", "--output-format", "stream-json"]).provider(&provider).succeed();
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["request", "tool_call", "tool_result", "request", "text", "text", "result"]);
    assert_eq!(events[1]["name"], "database_tables");
    assert_eq!((&events[4]["text"], &events[5]["text"]), (&json!("Two "), &json!("words")));
    assert_eq!(events[6]["text"], "Two words");
    assert_eq!((&events[6]["request_count"], &events[6]["tool_call_count"]), (&json!(2), &json!(1)));
}

#[test]
fn errors_are_json_too() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::status(401, "bad key")]);
    let output = home.memoir(["-p", "hi", "--output-format", "json"]).provider(&provider).output();
    assert_eq!(output.status.code(), Some(1));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["type"], "error");
    assert!(result["error"]["message"].as_str().unwrap().contains("bad key"), "{result}");
}
