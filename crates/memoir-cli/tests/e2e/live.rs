//! What is shown while a turn runs: the answer as it is written, and tools as they run.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, Terminal};
use serde_json::json;

use crate::home;

#[test]
fn a_paragraph_appears_while_it_is_written_and_once() {
    let home = home();
    let reply = Reply::text("Forty apple trees stand behind the old mill, and a bench").stalled();
    let provider = ScriptedProvider::start([reply]);
    let terminal = Terminal::open(&home, Some(&provider), (24, 40), &[]);
    terminal.submit("Tell me");
    // The answer is not complete.
    terminal
        .wait_until("the open paragraph", |screen| screen.contains("bench") && screen.contains("writing"));
    // A window that changes its width while the answer is incomplete leaves nothing behind.
    terminal.resize(24, 70);
    terminal.wait_for("Forty apple trees stand behind the old mill, and a bench\n");
    terminal.type_keys("\u{3}");
    terminal.wait_for("Cancelled");
    let text = terminal.wait_for_prompt();
    assert_eq!(text.matches("Forty").count(), 1, "{text}");
    assert!(!text.contains("writing") && !text.contains("thinking"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("Cancelled")), "{text}");
}

#[test]
fn a_command_is_watched_and_its_output_can_be_shown_again() {
    let home = home();
    let wait = "while [ ! -e go ]; do sleep 0.05; done";
    // The last line follows so soon that it is not reported with the others.
    let command =
        format!("for n in $(seq 59); do echo line $n; done; sleep 0.02; echo line 60; {wait}; echo end");
    let call = Reply::tool_call("c0", "execute_bash", &json!({"command": command, "timeout": 200}));
    let provider = ScriptedProvider::start([call, Reply::text("Done.")]);
    let terminal = Terminal::open(&home, Some(&provider), (24, 100), &["--approval", "full"]);
    terminal.submit("/last");
    terminal.wait_for("no tool was called yet");
    terminal.submit("go");
    // A screen between two redraws has only a part of them.
    let screen = terminal.wait_until("the last lines and the call", |screen| {
        screen.contains("line 60") && screen.contains("execute_bash for n in")
    });
    assert!(!screen.contains("line 55\n"), "{screen}");
    fs::write(home.workspace().join("go"), "").unwrap();
    terminal.wait_for("Done.");
    let screen = terminal.wait_for_prompt();
    let summary = screen.lines().find(|line| line.starts_with("• execute_bash")).unwrap_or_default();
    assert!(summary.contains("(61 lines, "), "{screen}");
    assert!(!screen.contains("line 60"), "the output was shown only while the command ran: {screen}");
    // It is longer than the screen, so it is shown in pages.
    terminal.submit("/last");
    terminal.wait_for("line 20");
    assert!(!terminal.stable_text().contains("line 60"));
    terminal.type_keys("q");
    terminal.wait_for_prompt();
}

#[test]
fn changes_of_files_are_shown_with_their_size() {
    let home = home();
    fs::write(home.workspace().join("notes.txt"), "one\ntwo\nthree\n").unwrap();
    let edit = json!({"path": "notes.txt", "operation": "replace", "anchor": "two", "text": "2\n2b"});
    let provider = ScriptedProvider::always(Reply::text("Done."));
    provider.push(Reply::tool_call("c0", "file_edit", &edit));
    let terminal = Terminal::open(&home, Some(&provider), (30, 100), &["--approval", "auto-edit"]);
    terminal.submit("edit");
    terminal.wait_for("Done.");
    let screen = terminal.wait_for_prompt();
    assert!(screen.contains("• file_edit notes.txt (+2 −1, "), "{screen}");
    assert!(screen.contains(" one\n-two\n+2\n+2b\n three"), "{screen}");
    assert!(terminal.output().contains("\u{1b}[31m-two"), "in color");
    // A change that the user has just approved is not repeated.
    let edit = json!({"path": "notes.txt", "operation": "append", "text": "four\n"});
    provider.push(Reply::tool_call("c1", "file_edit", &edit));
    terminal.submit("/approval ask");
    terminal.submit("again");
    terminal.wait_for("Allow?");
    terminal.type_keys("y\r");
    terminal.wait_for("+1 −0");
    let screen = terminal.wait_for_prompt();
    assert_eq!(screen.matches("+four").count(), 1, "{screen}");
}

#[test]
fn nothing_is_redrawn_for_a_screen_reader() {
    let home = home();
    let call = Reply::tool_call("c0", "execute_bash", &json!({"command": "echo hello"}));
    let provider = ScriptedProvider::start([call, Reply::text("**Done** with it.\n\nReally.")]);
    let terminal = Terminal::open(&home, Some(&provider), (24, 80), &["--plain", "--approval", "full"]);
    terminal.submit("go");
    terminal.wait_for("Really.");
    terminal.wait_for_prompt();
    let output = terminal.output();
    let turn = &output[output.find("execute_bash").unwrap()..output.find("Really.").unwrap()];
    assert!(!turn.contains('\u{1b}') && !turn.contains("thinking"), "{turn:?}");
}
