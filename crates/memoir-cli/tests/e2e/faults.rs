//! Whatever breaks a turn, the database is as it was before, with the prompt in the command history.

use std::{collections::BTreeMap, process::Child};

use memoir_testkit::{Home, Reply, ScriptedProvider};
use serde_json::json;

use crate::home;

type Dump = BTreeMap<String, Vec<String>>;

/// A home with one finished exchange, so that "as before" is more than "empty".
fn home_with_a_past(provider: &ScriptedProvider) -> (Home, Dump) {
    let home = home();
    home.write_config("[calls]\nretry_first_wait_ms = 1\n");
    home.memoir(["-p", "the past"]).provider(provider).succeed();
    let before = home.dump();
    assert_eq!(before["exchanges"].len(), 1);
    (home, before)
}

/// Memory is as it was, to the row. The prompt is in the command history, and the `paid` calls are on the bill.
fn assert_nothing_was_stored(home: &Home, before: &Dump, prompt: &str, paid: usize) {
    let mut after = home.dump();
    let commands = after.insert("command_history".into(), before["command_history"].clone()).unwrap();
    assert_eq!(commands.len(), before["command_history"].len() + 1);
    assert!(commands.last().unwrap().contains(prompt), "{commands:?}");
    let costs = after.insert("costs".into(), before["costs"].clone()).unwrap();
    assert_eq!(costs.len(), before["costs"].len() + paid, "{costs:?}");
    after.insert("_conversation_costs".into(), before["_conversation_costs"].clone());
    let counters = |dump: &Dump| -> Vec<String> {
        let others = |row: &&String| !row.contains("command_history") && !row.contains("costs");
        dump["sqlite_sequence"].iter().filter(others).cloned().collect()
    };
    assert_eq!(counters(&after), counters(before));
    after.insert("sqlite_sequence".into(), before["sqlite_sequence"].clone());
    assert_eq!(&after, before);
}

/// The script of a turn that breaks in its second round, after a tool has run.
fn provider_that_breaks(ending: Reply) -> ScriptedProvider {
    ScriptedProvider::start([
        Reply::text("ok"),
        Reply::tool_call("c1", "database_tables", &json!({})),
        ending,
    ])
}

#[test]
fn a_cut_stream_leaves_nothing() {
    let provider = provider_that_breaks(Reply::text("half an ans").cut());
    let (home, before) = home_with_a_past(&provider);
    let said = home.memoir(["-c", "-p", "cut me"]).provider(&provider).fail(1);
    assert!(said.contains("cut off before its end. Nothing was stored; send the prompt again."), "{said}");
    assert_nothing_was_stored(&home, &before, "cut me", 2);
}

#[test]
fn a_stream_that_ends_without_its_end_event_leaves_nothing() {
    let provider = provider_that_breaks(Reply::text("half").closed());
    let (home, before) = home_with_a_past(&provider);
    home.memoir(["-c", "-p", "cut me"]).provider(&provider).fail(1);
    assert_nothing_was_stored(&home, &before, "cut me", 2);
}

#[test]
fn a_server_error_leaves_nothing() {
    let provider = provider_that_breaks(Reply::status(500, "the machine room is on fire"));
    (0..4).for_each(|_| provider.push(Reply::status(500, "the machine room is on fire")));
    let (home, before) = home_with_a_past(&provider);
    let said = home.memoir(["-p", "break"]).provider(&provider).fail(1);
    assert!(said.contains("the machine room is on fire"), "{said}");
    assert_nothing_was_stored(&home, &before, "break", 1);
}

#[test]
fn garbage_leaves_nothing() {
    let provider = provider_that_breaks(Reply::text("well").and_garbage("data: {not json\n\n"));
    let (home, before) = home_with_a_past(&provider);
    home.memoir(["-p", "garbage"]).provider(&provider).fail(1);
    assert_nothing_was_stored(&home, &before, "garbage", 2);
}

#[test]
fn an_empty_answer_leaves_nothing() {
    let provider = provider_that_breaks(Reply::text(""));
    let (home, before) = home_with_a_past(&provider);
    let said = home.memoir(["-p", "say nothing"]).provider(&provider).fail(1);
    assert!(said.contains("empty answer"), "{said}");
    assert_nothing_was_stored(&home, &before, "say nothing", 2);
}

fn signal(child: &Child, signal: &str) {
    let status = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Starts a turn that hangs in its second round.
fn hang(home: &Home, provider: &ScriptedProvider, prompt: &str) -> Child {
    let child = home.memoir(["-c", "-p", prompt]).provider(provider).spawn();
    provider.wait_for_requests(3);
    child
}

#[test]
fn ctrl_c_in_a_tool_loop_leaves_nothing_and_exits_130() {
    let provider = provider_that_breaks(Reply::text("").then_silence());
    let (home, before) = home_with_a_past(&provider);
    let child = hang(&home, &provider, "interrupt me");
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Cancelled; nothing was stored."));
    assert_nothing_was_stored(&home, &before, "interrupt me", 1);
}

#[test]
fn kill_9_in_a_tool_loop_leaves_nothing() {
    let provider = provider_that_breaks(Reply::text("").then_silence());
    let (home, before) = home_with_a_past(&provider);
    let mut child = hang(&home, &provider, "kill me");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_nothing_was_stored(&home, &before, "kill me", 0);
    provider.push(Reply::text("still here"));
    assert_eq!(home.memoir(["-c", "-p", "alive?"]).provider(&provider).succeed(), "still here\n");
}
