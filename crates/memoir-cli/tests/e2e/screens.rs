//! Snapshots of the screen of a real terminal.

use insta::assert_snapshot;
use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};
use serde_json::json;

use crate::home;

fn open(home: &TestHome, provider: &ScriptedProvider, size: (u16, u16), arguments: &[&str]) -> Terminal {
    let terminal = Terminal::open(home, Some(provider), size, arguments);
    terminal.wait_for_prompt();
    terminal
}

/// An answer with many kinds of Markdown.
const RICH: &str = "Here is the plan for **Thursday**.\n\n\
| station | 电池 | volts |\n| --- | --- | ---: |\n| Ridge | LiFePO4 | 3.2 |\n| 教堂 🏔 | 18650 | 3.7 |\n\n\
1. Read `config.toml`\n2. Then:\n   - *climb* the mast\n   - [the manual](https://example.org/manual)\n\n\
```rust\nfn main() {\n    println!(\"hello\"); // greet\n}\n```\n\n> Said by Marek.\n";

#[test]
fn a_first_run() {
    let home = home();
    let terminal = Terminal::open(&home, None, (16, 90), &[]);
    terminal.wait_for_prompt();
    assert_snapshot!(terminal.stable_text());
}

#[test]
fn a_streamed_answer_with_a_table_and_code() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text(RICH).in_chunks_of(3).usage(1200, 80, 600)]);
    let terminal = open(&home, &provider, (34, 80), &[]);
    terminal.submit("What is the plan?");
    terminal.wait_for("1200 in");
    terminal.wait_for_prompt();
    assert_snapshot!(terminal.stable_text());
}

#[test]
fn the_same_in_forty_columns() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text(RICH).in_chunks_of(3)]);
    let terminal = open(&home, &provider, (50, 40), &[]);
    terminal.submit("What is the plan for the day on which everything has to be ready?");
    terminal.wait_for("Said by Marek.");
    terminal.wait_for_prompt();
    let rows = terminal.rows();
    let answer = rows.iter().position(|row| row.starts_with("Here is")).unwrap();
    let end = rows.iter().position(|row| row.contains("Said by")).unwrap();
    assert_snapshot!(rows[answer..=end].join("\n"));
}

#[test]
fn the_same_without_colors() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text(RICH).in_chunks_of(3)]);
    let terminal = Terminal::open_with(&home, Some(&provider), (40, 80), &[], &[("NO_COLOR", "1")]);
    terminal.wait_for_prompt();
    terminal.submit("What is the plan?");
    terminal.wait_for("Said by Marek.");
    terminal.wait_for_prompt();
    assert_snapshot!(terminal.stable_text());
}

#[test]
fn an_approval() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "file_write", &json!({"path": "notes.md", "content": "# Notes\n- one\n"})),
        Reply::text("It is written."),
    ]);
    let terminal = open(&home, &provider, (24, 80), &[]);
    terminal.submit("Write it down");
    terminal.wait_for("in this project:");
    let workspace = home.workspace().canonicalize().unwrap();
    assert_snapshot!(terminal.stable_text().replace(workspace.to_str().unwrap(), "WORKSPACE"));
    terminal.type_keys("y\r");
    terminal.wait_for("It is written.");
    terminal.wait_for_prompt();
}

#[test]
fn a_cancelled_turn() {
    let home = home();
    // One chunk, so that the whole text has arrived when the first paragraph is shown.
    let provider = ScriptedProvider::start([Reply::text("First this.\n\nThen half of th")
        .in_chunks_of(100_000)
        .stalled()]);
    let terminal = open(&home, &provider, (16, 80), &[]);
    terminal.submit("Tell me everything");
    terminal.wait_for("First this.");
    terminal.wait_for("writing");
    terminal.type_keys("\x03");
    terminal.wait_for("Cancelled");
    terminal.wait_for_prompt();
    assert_snapshot!(terminal.stable_text());
}

#[test]
fn a_message_from_the_background_while_typing() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Noted."), Reply::text("Borut knows every boat.")]);
    home.memoir(["-p", "The harbour master of Piran is called Borut, he knows every boat."])
        .provider(&provider)
        .succeed();
    home.memoir(["config", "set", "summarizer.model", "gpt-5-mini"]).succeed();
    home.memoir(["config", "set", "workers.conversation_summarizer", "off"]).succeed();
    // Hold back the workers until the first half is typed.
    provider.hold();
    let terminal = open(&home, &provider, (16, 80), &["-v"]);
    terminal.type_keys("half a sentence that is be");
    terminal.wait_for("> half a sentence that is be");
    provider.release();
    terminal.wait_for("exchange_summarizer: exchange 1 done");
    terminal.wait_for("embedding_generator: exchange 1 done");
    terminal.type_keys("ing typed");
    terminal.wait_for("> half a sentence that is being typed");
    // Messages that arrive together are printed above one status line, others above one each.
    assert_snapshot!(terminal.stable_text().replace("openai/gpt-5.6-luna · work\n", ""));
}

#[test]
fn chinese_and_emoji_are_typed_and_deleted() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("好的 👍🏽,明天见。")]);
    let terminal = open(&home, &provider, (14, 60), &[]);
    terminal.type_keys("明天在教堂见面吗 👩‍👩‍👧?错");
    terminal.wait_for("错");
    terminal.type_keys("\x7f");
    terminal.wait_until("the last character deleted", |screen| !screen.contains('错'));
    terminal.type_keys("\r");
    terminal.wait_for("明天见。");
    terminal.wait_for_prompt();
    let sent = provider.requests()[0].messages();
    assert!(sent.iter().any(|(_, text)| text.ends_with("明天在教堂见面吗 👩‍👩‍👧?")), "{sent:?}");
    assert_snapshot!(terminal.stable_text());
}

#[test]
fn a_resized_window() {
    let home = home();
    let long = "These are words that go on and on until the line is full and the next one begins. ".repeat(3);
    let provider = ScriptedProvider::start([Reply::text(&long), Reply::text(&long), Reply::text(&long)]);
    let terminal = open(&home, &provider, (24, 80), &[]);
    terminal.resize(24, 50);
    terminal.submit("first");
    terminal.wait_for("next one begins.");
    terminal.wait_for_prompt();
    let narrow = terminal.stable_text();
    let mut answer = narrow.lines().filter(|line| line.contains("words") || line.contains("begins"));
    assert!(answer.all(|line| line.chars().count() < 50), "{narrow}");
    terminal.resize(24, 100);
    terminal.submit("/clear");
    terminal.wait_until("an empty screen", |screen| !screen.contains("first"));
    terminal.wait_for_prompt();
    terminal.submit("second");
    terminal.wait_for("begins.");
    terminal.wait_for_prompt();
    assert_snapshot!(terminal.stable_text());
}

#[test]
fn tab_suggests_and_completes() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    home.memoir(["-p", "About the battery of the ridge"]).provider(&provider).succeed();
    std::fs::write(home.workspace().join("README.md"), "The answer is 42.\n").unwrap();
    let terminal = open(&home, &provider, (20, 90), &[]);
    terminal.type_keys("/mo\t");
    terminal.wait_for("Show the current model");
    assert_snapshot!(terminal.stable_text());
    terminal.type_keys("\x1b");
    terminal.wait_until("no proposals", |screen| !screen.contains("Show the current model"));
    terminal.type_keys("\x03");
    terminal.wait_for("Press Ctrl-C again to exit.");
    terminal.wait_for_prompt();
    terminal.type_keys("/resume batt\t");
    terminal.wait_for("/resume 1");
    terminal.type_keys("\r");
    terminal.wait_for("Resumed conversation 1: About the battery");
    terminal.wait_for_prompt();
    terminal.type_keys("What does @READ\t");
    terminal.wait_for("@README.md");
    terminal.type_keys("say?\r");
    terminal.wait_for("Noted.");
    terminal.wait_for_prompt();
    let sent = provider.requests()[1].messages();
    assert!(
        sent.iter().any(|(_, text)| text.contains("<file path=\"README.md\">\nThe answer is 42.")),
        "{sent:?}"
    );
    assert!(terminal.stable_text().contains("Attached @README.md (18 characters)."));
    // Deleting the exchange also deletes the line with the attachment from the command history.
    home.memoir(["memory", "forget", "--exchange", "2", "--yes"]).succeed();
    let next = open(&home, &provider, (20, 90), &[]);
    next.type_keys("\x1b[A");
    next.wait_for("> /resume 1");
    drop(next);
    terminal.submit("!echo $((6 * 7)) answers");
    terminal.wait_for("42 answers");
    terminal.wait_for_prompt();
    assert_eq!(provider.requests().len(), 2, "the user's shell command is not sent");
}
