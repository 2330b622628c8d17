//! The keys of the input line, long pastes and the status line above it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};

use crate::home;

fn open(home: &TestHome, provider: &ScriptedProvider) -> Terminal {
    Terminal::open(home, Some(provider), (30, 100), &[])
}

fn last_prompt(provider: &ScriptedProvider) -> String {
    provider.requests().last().unwrap().messages().last().unwrap().1.clone()
}

#[test]
fn several_lines_are_typed_in_three_ways() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal = open(&home, &provider);
    terminal.wait_for_prompt();
    terminal.type_keys("one\\\r");
    terminal.type_keys("two\u{1b}\rthree\u{1b}[13;2ufour\r");
    terminal.wait_for("Fine.");
    terminal.wait_for_prompt();
    assert!(last_prompt(&provider).ends_with("one\ntwo\nthree\nfour"), "{}", last_prompt(&provider));
}

#[test]
fn ctrl_d_deletes_in_a_line_and_exits_from_an_empty_one() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let mut terminal = open(&home, &provider);
    terminal.wait_for_prompt();
    // Ctrl-A moves to the start, and Ctrl-D deletes the character there.
    terminal.type_keys("xhello\u{1}\u{4}\r");
    terminal.wait_for("Fine.");
    terminal.wait_for_prompt();
    assert!(last_prompt(&provider).ends_with("hello") && !last_prompt(&provider).ends_with("xhello"));
    terminal.type_keys("\u{4}");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn esc_esc_edits_the_last_prompt() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal = open(&home, &provider);
    terminal.submit("Where is the key?");
    terminal.wait_for("Fine.");
    terminal.wait_for_prompt();
    // Two presses of Esc, as terminals write them that report every key. Two bytes would be one key.
    terminal.type_keys("\u{1b}[27u\u{1b}[27u");
    terminal.wait_until("the prompt again", |screen| screen.matches("Where is the key?").count() == 2);
    terminal.type_keys(" Really?\r");
    provider.wait_for_requests(2);
    assert!(last_prompt(&provider).ends_with("Where is the key? Really?"), "{}", last_prompt(&provider));
}

#[test]
fn a_prompt_is_written_in_the_users_editor() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let editor = home.workspace().join("editor.sh");
    let log = home.workspace().join("log");
    fs::write(
        &editor,
        format!("#!/bin/sh\nstat -c %a \"$1\" > {}\necho ' and more' >> \"$1\"\n", log.display()),
    )
    .unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let variables = [("EDITOR", editor.to_str().unwrap())];
    let terminal = Terminal::open_with(&home, Some(&provider), (30, 100), &[], &variables);
    terminal.wait_for_prompt();
    terminal.type_keys("Some words\u{18}\u{5}");
    terminal.wait_for("and more");
    terminal.type_keys("\r");
    terminal.wait_for("Fine.");
    assert!(last_prompt(&provider).ends_with("Some words and more"), "{}", last_prompt(&provider));
    assert_eq!(fs::read_to_string(log).unwrap().trim(), "600", "only the user can read it");
    let left = fs::read_dir(home.memoir_home()).unwrap().flatten();
    assert!(left.into_iter().all(|file| !file.file_name().to_string_lossy().starts_with("prompt.")));
}

#[test]
fn vi_keys_can_be_chosen() {
    let home = home();
    home.write_config("[terminal]\nkeys = \"vi\"\n");
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal = open(&home, &provider);
    terminal.wait_for_prompt();
    for (keys, line) in
        [("hello wrld", "> hello wrld"), ("\u{1b}", ": hello wrld"), ("bcwworld", "> hello world")]
    {
        terminal.type_keys(keys);
        terminal.wait_for(line);
    }
    terminal.type_keys("\r");
    terminal.wait_for("Fine.");
    assert!(last_prompt(&provider).ends_with("hello world"), "{}", last_prompt(&provider));
    let failure = home.memoir(["config", "set", "terminal.keys", "joe"]).fail(2);
    assert!(failure.contains("emacs or vi"), "{failure}");
}

#[test]
fn the_last_shell_command_is_repeated() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal = open(&home, &provider);
    terminal.submit("!!");
    terminal.wait_for("There is no command to repeat.");
    terminal.submit("!echo left");
    terminal.wait_until("the output", |screen| screen.lines().any(|line| line == "left"));
    terminal.submit("!! right");
    terminal.wait_until("the output", |screen| screen.lines().any(|line| line == "left right"));
}

#[test]
fn a_long_paste_is_collapsed_and_sent_in_full() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal = open(&home, &provider);
    terminal.wait_for_prompt();
    let lines: String = (1..=200).map(|number| format!("row {number}\n")).collect();
    terminal.type_keys(&format!("\u{1b}[200~{}\u{1b}[201~", lines.trim_end()));
    terminal.wait_for("> [pasted 200 lines]");
    terminal.type_keys(" summarize\r");
    terminal.wait_for("Fine.");
    let screen = terminal.wait_for_prompt();
    assert!(!screen.contains("row 100"), "{screen}");
    let prompt = last_prompt(&provider);
    assert!(prompt.ends_with(&format!("{} summarize", lines.trim_end())), "{prompt}");
}

#[test]
fn a_file_that_does_not_exist_is_mentioned() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal = open(&home, &provider);
    terminal.submit("compare @nosuch.txt with what @anna said to me@home.org");
    terminal.wait_for("The file nosuch.txt does not exist, so @nosuch.txt is sent as text.");
    terminal.wait_for("Fine.");
    assert_eq!(terminal.wait_for_prompt().matches("does not exist").count(), 1);
}

#[test]
fn the_status_line_shows_the_session_and_can_be_turned_off() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal = open(&home, &provider);
    terminal.submit("hello");
    terminal.wait_for("Fine.");
    terminal.wait_until("the status", |screen| {
        screen.contains("openai/gpt-5.6-luna · work · 15 tokens · <$0.0001 · context ")
    });
    terminal.submit("/version");
    terminal.wait_for("memoir 0.1.0 (schema");
    let screen = terminal.wait_for_prompt();
    assert_eq!(screen.matches("· work · 15 tokens").count(), 1, "only above the last prompt: {screen}");
    home.write_config("[terminal]\nstatus_line = false\n");
    let terminal = open(&home, &provider);
    let screen = terminal.wait_for_prompt();
    assert!(!screen.contains("· work"), "{screen}");
}

#[test]
fn files_are_completed_by_a_few_letters_and_dropped_onto_the_terminal() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let workspace = home.workspace();
    fs::create_dir_all(workspace.join("deep/er")).unwrap();
    fs::create_dir(workspace.join("target")).unwrap();
    fs::write(workspace.join(".gitignore"), "target/\n").unwrap();
    fs::write(workspace.join("deep/er/orchard plan.txt"), "Forty trees.").unwrap();
    fs::write(workspace.join("target/orchard.txt"), "Built.").unwrap();
    let terminal = open(&home, &provider);
    terminal.wait_for_prompt();
    terminal.type_keys("How many? @orcpl\t");
    terminal.wait_for("@\"deep/er/orchard plan.txt\"");
    terminal.type_keys("\r");
    terminal.wait_for("Fine.");
    terminal.wait_for_prompt();
    assert!(provider.requests()[0].body.to_string().contains("Forty trees."));
    // A terminal quotes the path of a file that is dropped onto it, or writes backslashes.
    let path = workspace.join("deep/er/orchard plan.txt").display().to_string();
    terminal.type_keys(&format!("'{path}' what is this?\r"));
    provider.wait_for_requests(2);
    assert!(last_prompt(&provider).contains("Forty trees."), "{}", last_prompt(&provider));
    terminal.wait_for_prompt();
    terminal.type_keys(&format!("{} and this?\r", path.replace(' ', "\\ ")));
    provider.wait_for_requests(3);
    assert!(
        last_prompt(&provider).contains("Forty trees."),
        "a path is not a command: {}",
        last_prompt(&provider)
    );
    // A path in text that was pasted is not a file that was dropped, and backslashes in it stay.
    terminal.wait_for_prompt();
    terminal.type_keys(&format!("\u{1b}[200~make \\\n  '{path}'\u{1b}[201~\r"));
    provider.wait_for_requests(4);
    let prompt = last_prompt(&provider);
    assert!(prompt.ends_with(&format!("make \\\n  '{path}'")), "{prompt}");
}
