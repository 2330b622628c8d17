//! A failed turn leaves the database unchanged, with the prompt in the command history.

use std::process::Child;

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome, data::Snapshot};
use serde_json::{Value, json};

use crate::home;

/// Creates a home with one completed exchange, so that an unchanged database is not just an empty one.
fn home_with_a_past(provider: &ScriptedProvider) -> (TestHome, Snapshot) {
    let home = home();
    home.write_config("[calls]\nretry_first_wait_ms = 1\n");
    home.memoir(["-p", "the past"]).provider(provider).succeed();
    let before = home.snapshot();
    assert_eq!(before.counts["exchanges"], 1);
    (home, before)
}

/// Checks that the data is unchanged, that the up arrow restores the prompt, and that `paid` calls were added
/// to the costs.
fn assert_nothing_was_stored(home: &TestHome, before: &Snapshot, prompt: &str, paid: u64) {
    let mut after = home.snapshot();
    for (kind, added) in [("command_history", 1), ("costs", paid)] {
        let count = after.counts.insert(kind.into(), before.counts[kind]);
        assert_eq!(count, Some(before.counts[kind] + added), "{kind}");
    }
    let calls = |snapshot: &Snapshot| snapshot.costs["all"]["total"]["calls"].as_u64().unwrap();
    assert_eq!(calls(&after), calls(before) + paid, "{}", after.costs);
    after.costs = before.costs.clone();
    assert_eq!(&after, before);
    let terminal = Terminal::open(home, None, (24, 80), &["--model", "memoir/recall"]);
    terminal.wait_for_prompt();
    terminal.type_keys("\x1b[A");
    terminal.wait_for(&format!("> {prompt}"));
    drop(terminal);
    // The rolled-back exchange did not use up an id.
    let provider = ScriptedProvider::start([Reply::text("still here")]);
    let next = ["-p", "alive?", "--output-format", "json"];
    let next: Value = home.memoir(next).provider(&provider).json();
    assert_eq!((&next["text"], &next["exchange_id"]), (&json!("still here"), &json!(2)));
}

/// Starts a provider whose second reply of a turn fails, after a tool has run.
fn provider_that_breaks(ending: Reply) -> ScriptedProvider {
    ScriptedProvider::start([
        Reply::text("ok"),
        Reply::tool_call("c1", "database_tables", &json!({})),
        ending,
    ])
}

#[test]
fn a_cut_stream_leaves_nothing() {
    let provider = provider_that_breaks(Reply::text("half an ans").disconnected());
    let (home, before) = home_with_a_past(&provider);
    let stderr = home.memoir(["-c", "-p", "cut me"]).provider(&provider).fail(1);
    assert!(
        stderr.contains("cut off before it was complete. Nothing was stored. Send the prompt again."),
        "{stderr}"
    );
    assert_nothing_was_stored(&home, &before, "cut me", 2);
}

#[test]
fn a_stream_without_an_end_event_leaves_nothing() {
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
    let stderr = home.memoir(["-p", "break"]).provider(&provider).fail(1);
    assert!(stderr.contains("the machine room is on fire"), "{stderr}");
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
    let stderr = home.memoir(["-p", "say nothing"]).provider(&provider).fail(1);
    assert!(stderr.contains("empty answer"), "{stderr}");
    assert_nothing_was_stored(&home, &before, "say nothing", 2);
}

fn signal(child: &Child, signal: &str) {
    let status = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Starts a turn that hangs in its second round.
fn hang(home: &TestHome, provider: &ScriptedProvider, prompt: &str) -> Child {
    let child = home.memoir(["-c", "-p", prompt]).provider(provider).spawn();
    provider.wait_for_requests(3);
    child
}

#[test]
fn ctrl_c_in_a_tool_loop_leaves_nothing_and_exits_130() {
    let provider = provider_that_breaks(Reply::text("").stalled());
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
    let provider = provider_that_breaks(Reply::text("").stalled());
    let (home, before) = home_with_a_past(&provider);
    let mut child = hang(&home, &provider, "kill me");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_nothing_was_stored(&home, &before, "kill me", 0);
}
