//! `memoir import --watch`: the sessions of other programs, stored as they grow.

use std::{
    fs,
    path::{Path, PathBuf},
};

use memoir_testkit::{McpClient, McpRevision, TestHome, wait_until};
use serde_json::{Value, json};

use crate::home;

/// Returns the line of a Claude Code session.
fn claude_line(session: &str, number: usize, role: &str, text: &str) -> String {
    let content = match role {
        "user" => json!(text),
        _ => json!([{"type": "text", "text": text}]),
    };
    let line = json!({
        "type": role, "uuid": format!("{session}-{number}"), "sessionId": session, "cwd": "/projects/shop",
        "parentUuid": number.checked_sub(1).map(|parent| format!("{session}-{parent}")),
        "message": {"role": role, "content": content, "id": format!("m{number}"), "stop_reason": "end_turn"},
        "timestamp": format!("2026-11-16T10:{number:02}:00.000Z"),
    });
    format!("{line}\n")
}

/// Returns the lines of a whole Codex session.
fn codex_session(session: &str, texts: &[(&str, &str)]) -> String {
    let mut lines = vec![
        json!({"type": "session_meta", "payload": {"id": session, "cwd": "/projects/shop"}, "timestamp": "2026-11-16T11:00:00Z"}),
    ];
    for (number, (role, text)) in texts.iter().enumerate() {
        let kind = if *role == "user" { "input_text" } else { "output_text" };
        lines.push(json!({
            "type": "response_item", "timestamp": format!("2026-11-16T11:00:{:02}Z", number + 1),
            "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]},
        }));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn append(file: &Path, text: &str) {
    use std::io::Write as _;
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::OpenOptions::new().create(true).append(true).open(file).unwrap().write_all(text.as_bytes()).unwrap();
}

fn texts(home: &TestHome) -> Vec<String> {
    home.messages().into_iter().map(|message| message.text).collect()
}

fn user_home(home: &TestHome) -> PathBuf {
    home.workspace().parent().unwrap().to_owned()
}

#[test]
fn sessions_are_stored_as_they_grow_and_survive_what_programs_do_to_them() {
    let home = home();
    let claude = user_home(&home).join(".claude/projects/-projects-shop/s1.jsonl");
    append(&claude, &claude_line("s1", 0, "user", "The cart rounds to cents."));
    append(&claude, &claude_line("s1", 1, "assistant", "Understood."));
    let mut watch = home.memoir(["import", "--watch"]).spawn_logging_to(&home.log());
    wait_until("the existing session is stored", || texts(&home).len() == 2);

    // A prompt without an answer is not complete.
    append(&claude, &claude_line("s1", 2, "user", "And the shipping?"));
    append(&claude, &claude_line("s1", 3, "assistant", "To full euros."));
    wait_until("the next exchange is stored", || texts(&home).len() == 4);
    // A program whose directory did not exist when the watch began.
    let codex = user_home(&home).join(".codex/sessions/2026/11/16/rollout-2026-11-16T11-00-00-c1.jsonl");
    append(&codex, &codex_session("c1", &[("user", "Name the release Heron."), ("assistant", "Done.")]));
    append(&claude, &claude_line("s1", 4, "user", "What about returns?"));
    append(&claude, &claude_line("s1", 5, "assistant", "Within 30 days."));
    wait_until("both are stored", || texts(&home).len() == 8);

    // The program starts the file again, then deletes it.
    fs::write(&claude, claude_line("s1", 6, "user", "Which tests fail?")).unwrap();
    append(&claude, &claude_line("s1", 7, "assistant", "None."));
    wait_until("the rewritten file is followed", || texts(&home).len() == 10);
    fs::remove_file(&claude).unwrap();
    append(&codex, "");
    watch.kill().unwrap();
    watch.wait().unwrap();

    // Nothing is stored twice, however often the watch starts.
    append(&claude, &claude_line("s2", 8, "user", "Start the next milestone."));
    append(&claude, &claude_line("s2", 9, "assistant", "It is open."));
    let mut watch = home.memoir(["import", "--watch"]).spawn_logging_to(&home.log());
    wait_until("the new session is stored", || texts(&home).iter().any(|text| text == "It is open."));
    watch.kill().unwrap();
    watch.wait().unwrap();
    let mut stored = texts(&home);
    let count = stored.len();
    stored.sort();
    stored.dedup();
    assert_eq!((stored.len(), count), (12, 12));

    home.memoir(["worker", "run", "--until-idle"]).succeed();
    let from = |program: &str| {
        home.memoir(["search", "--from", program, "name of the release, and returns"]).succeed()
    };
    assert!(from("codex").contains("Heron") && !from("codex").contains("30 days"), "{}", from("codex"));
    assert!(from("claude-code").contains("30 days") && !from("claude-code").contains("Heron"));
    assert!(!from("memoir").contains("Heron"));
}

#[test]
fn the_daemon_follows_other_programs_if_the_user_wants_that() {
    let home = home();
    home.memoir(["config", "set", "import.watch", "on"]).succeed();
    let mut daemon = home.memoir(["daemon"]).spawn_logging_to(&home.log());
    let claude = user_home(&home).join(".claude/projects/-projects-shop/s1.jsonl");
    append(&claude, &claude_line("s1", 0, "user", "The cart rounds to cents."));
    append(&claude, &claude_line("s1", 1, "assistant", "Understood."));
    wait_until("the session is stored", || texts(&home).len() == 2);
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

#[test]
fn a_server_stores_what_was_missed_and_the_doctor_knows_what_is_safe() {
    let home = home();
    let old = user_home(&home).join(".claude/projects/-projects-shop/s1.jsonl");
    append(&old, &claude_line("s1", 0, "user", "The cart rounds to cents."));
    append(&old, &claude_line("s1", 1, "assistant", "Understood."));
    let month = std::time::Duration::from_secs(27 * 24 * 60 * 60);
    let file = fs::File::options().append(true).open(&old).unwrap();
    file.set_modified(std::time::SystemTime::now() - month).unwrap();
    let sessions = || {
        let findings: Vec<Value> = home.memoir(["doctor", "--json"]).json();
        findings.into_iter().find(|finding| finding["what"] == "sessions").unwrap()
    };
    home.memoir(["conversations"]).succeed();
    let finding = sessions();
    assert_eq!(
        (&finding["state"], &finding["said"]),
        (
            &json!("note"),
            &json!("Claude Code deletes 1 session in the next 5 days; 1 of them is not in memory")
        )
    );
    let mut client = McpClient::start(home.memoir(["mcp", "serve"]), McpRevision::V2026, None);
    client.request("tools/list", json!({}));
    wait_until("the server has stored the session", || texts(&home).len() == 2);
    wait_until("it is safe", || sessions()["state"] == "good");
    assert_eq!(client.close(), Some(0));
    let finding = sessions();
    assert_eq!(finding["said"], "Claude Code deletes 1 session in the next 5 days; all are in memory");
}
