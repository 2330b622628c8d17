//! Tool calls and their results.

use memoir_testkit::{Reply, ScriptedProvider};
use serde_json::{Value, json};

use crate::home;

#[test]
fn a_tool_runs_and_its_result_is_returned_to_the_model() {
    let home = home();
    std::fs::write(home.workspace().join("note.txt"), "buy milk").unwrap();
    let provider = ScriptedProvider::start([
        Reply::tool_call("call_1", "file_read", &json!({"path": "note.txt"})),
        Reply::text("It says: buy milk."),
        Reply::text("As I said, milk."),
    ]);
    let answer = home.memoir(["-p", "What is in note.txt?"]).provider(&provider).succeed();
    assert_eq!(answer, "It says: buy milk.\n");

    let tools = &provider.requests()[0].body["tools"];
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names.len(), 26, "{names:?}");
    let second = provider.requests()[1].body["messages"].clone();
    let [.., call, result] = second.as_array().unwrap().as_slice() else { panic!("{second}") };
    assert_eq!((&call["role"], &call["tool_calls"][0]["id"]), (&json!("assistant"), &json!("call_1")));
    assert_eq!(result["role"], "tool");
    assert_eq!((&result["tool_call_id"], &result["content"]), (&json!("call_1"), &json!("buy milk")));

    // Calls and results are stored in order, but not sent again in later exchanges.
    let messages = home.messages();
    let [_, call, result, _] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!((call.role.as_str(), call.tool_calls[0].name.as_str()), ("assistant", "file_read"));
    assert_eq!((result.role.as_str(), result.text.as_str()), ("tool", "buy milk"));
    let answers = (result.call_id.as_deref(), result.tool_name.as_deref());
    assert_eq!(answers, (Some("call_1"), Some("file_read")));
    home.memoir(["-c", "-p", "Again?"]).provider(&provider).succeed();
    let third = provider.requests()[2].body["messages"].to_string();
    assert!(third.contains("It says: buy milk.") && !third.contains("call_1"), "{third}");
}

#[test]
fn two_calls_in_one_reply_are_answered_in_order() {
    let home = home();
    std::fs::write(home.workspace().join("a.txt"), "alpha").unwrap();
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "file_read", &json!({"path": "a.txt"})).and_tool_call(
            "c2",
            "database_tables",
            &json!({}),
        ),
        Reply::text("Done."),
    ]);
    home.memoir(["-p", "both"]).provider(&provider).succeed();
    let messages = provider.requests()[1].body["messages"].clone();
    let results: Vec<&Value> = messages.as_array().unwrap().iter().filter(|m| m["role"] == "tool").collect();
    assert_eq!(results.len(), 2, "{messages}");
    assert_eq!((&results[0]["tool_call_id"], &results[0]["content"]), (&json!("c1"), &json!("alpha")));
    assert_eq!(results[1]["tool_call_id"], "c2");
    assert!(results[1]["content"].as_str().unwrap().contains("messages: 0 rows"));
}

#[test]
fn tool_errors_are_reported_to_the_model() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "file_read", &json!({"path": "../../etc/passwd"}))
            .and_tool_call("c2", "no_such_tool", &json!({}))
            .and_raw_tool_call("c3", "file_read", "{\"path\": "),
        Reply::text("I could not."),
    ]);
    let answer = home.memoir(["-p", "try"]).provider(&provider).succeed();
    assert_eq!(answer, "I could not.\n");
    let messages = provider.requests()[1].body["messages"].clone();
    let results: Vec<_> = messages.as_array().unwrap().iter().filter(|m| m["role"] == "tool").collect();
    let texts: Vec<_> = results.iter().map(|result| result["content"].as_str().unwrap()).collect();
    assert!(texts[0].starts_with("error: not allowed: it needs approval"), "{texts:?}");
    assert_eq!(texts[1], "error: there is no tool \"no_such_tool\"");
    assert!(texts[2].starts_with("error: invalid arguments: not valid JSON"), "{texts:?}");
}

#[test]
fn an_endless_tool_loop_is_stopped_and_stored() {
    let home = home();
    let provider = ScriptedProvider::start(
        (0..30).map(|number| Reply::tool_call(&format!("c{number}"), "database_tables", &json!({}))),
    );
    let stderr = home.memoir(["-p", "loop"]).provider(&provider).fail(1);
    assert!(stderr.contains("Stopped after 25 rounds of tool calls without an answer."), "{stderr}");
    assert_eq!(provider.requests().len(), 25);
    assert_eq!(home.exchanges()[0].status, "stopped");
    assert_eq!(home.count_calls("chat"), 25);
    // The notice is not recalled as if it were part of the conversation.
    let answer = home.memoir(["-p", "What about the rounds of tool calls?"]).succeed();
    assert!(answer.starts_with("Nothing in memory"), "{answer}");
}

#[test]
fn the_number_of_rounds_is_a_setting() {
    let home = home();
    home.write_config("[agent]\nmax_turns = 2\n");
    let call = || Reply::tool_call("c1", "dir_list", &json!({"path": "."}));
    let provider = ScriptedProvider::start([call(), call(), call()]);
    let output = home.memoir(["-p", "look"]).provider(&provider).output();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("Stopped after 2 rounds of tool calls"), "{text}");
    assert_eq!(provider.requests().len(), 2);
    let shown = home.memoir(["config", "get", "agent.max_turns"]).succeed();
    assert!(shown.starts_with('2'), "{shown}");
    let stderr = home.memoir(["config", "set", "agent.max_turns", "0"]).fail(2);
    assert!(stderr.contains("a number from 1 to 1000"), "{stderr}");
}
