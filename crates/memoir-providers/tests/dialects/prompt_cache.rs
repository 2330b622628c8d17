//! Tests of cache breakpoints, which only Anthropic's API has.

use memoir_models::ChatMessage;
use memoir_testkit::{Reply, ScriptedProvider};

use crate::{MODELS, call, model, request};

#[tokio::test]
async fn breakpoints_are_set_after_the_stable_prefix_and_at_the_end() {
    for each in MODELS {
        let provider = ScriptedProvider::start([Reply::text("Yes.")]);
        let mut long = request("first question");
        let answer = ChatMessage::Assistant { text: "first answer".into(), tool_calls: vec![], replay: None };
        long.messages.extend([answer, ChatMessage::user("second question")]);
        long.stable_messages = 2;
        call(&*model(each, &provider), long).await.unwrap();
        let body = provider.requests()[0].body.clone();
        if !each.starts_with("anthropic") {
            assert!(!body.to_string().contains("cache_control"), "{each}: {body}");
            continue;
        }
        let has_breakpoint = |value: &serde_json::Value| value.to_string().contains("cache_control");
        assert!(has_breakpoint(&body["system"]), "{body}");
        let messages: Vec<bool> = body["messages"].as_array().unwrap().iter().map(has_breakpoint).collect();
        assert_eq!(messages, [false, true, true], "{body}");
    }
}
