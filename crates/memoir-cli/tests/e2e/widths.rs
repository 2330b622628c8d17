//! The main screens at 40, 80 and 120 columns. Lines break between words, and lists and tables reflow.

use std::fs;

use insta::{assert_snapshot, with_settings};
use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};
use serde_json::json;

use crate::home;

const WIDTHS: [u16; 3] = [40, 80, 120];

/// Enough rows that nothing scrolls away.
pub(crate) const ROWS: u16 = 400;

/// Dates, times, durations and scores, which differ between runs, with replacements of the same width.
const CHANGING: [(&str, &str); 4] = [
    (r"\d{4}-\d\d-\d\d", "YYYY-MM-DD"),
    (r"\d\d:\d\d", "HH:MM"),
    (r"\d\.\d s", "N.N s"),
    (r"(score|similarity|coverage)(\s+)\d\.\d\d", "$1${2}N.NN"),
];

/// Takes a snapshot of the screen that `open` returns, at every width.
pub(crate) fn check(name: &str, open: impl Fn(&TestHome, u16) -> Terminal) {
    for columns in WIDTHS {
        let home = home();
        let mut rows = read_rows(&open(&home, columns), columns);
        // The rule in the question contains a path, which differs between machines.
        rows.truncate(rows.iter().position(|row| row.contains("file_write(")).unwrap_or(rows.len()));
        with_settings!({filters => CHANGING}, {
            assert_snapshot!(format!("{name}_{columns}"), rows.join("\n"));
        });
    }
}

/// Returns the rows of the screen, after checking that the terminal has wrapped none of them: the program leaves the
/// last column free.
fn read_rows(terminal: &Terminal, columns: u16) -> Vec<String> {
    let mut rows: Vec<String> = terminal.rows().iter().map(|row| row.trim_end().to_owned()).collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    for row in &rows {
        assert!(row.chars().count() < usize::from(columns), "the terminal wrapped {row:?} of {rows:#?}");
    }
    rows
}

pub(crate) fn open_repl(home: &TestHome, provider: Option<&ScriptedProvider>, columns: u16) -> Terminal {
    let terminal = Terminal::open(home, provider, (ROWS, columns), &[]);
    terminal.wait_for_prompt();
    terminal
}

fn run(home: &TestHome, columns: u16, arguments: &[&str]) -> Terminal {
    let mut terminal = Terminal::open(home, None, (ROWS, columns), arguments);
    terminal.wait_for_exit();
    terminal
}

/// Opens the REPL and submits slash commands.
pub(crate) fn submit_all(
    home: &TestHome,
    provider: Option<&ScriptedProvider>,
    columns: u16,
    lines: &[&str],
) -> Terminal {
    let terminal = open_repl(home, provider, columns);
    for line in lines {
        terminal.submit(line);
        terminal.wait_for_prompt();
    }
    terminal
}

#[test]
fn first_start() {
    check("first_start", |home, columns| open_repl(home, None, columns));
}

#[test]
fn help_pages() {
    check("help", |home, columns| {
        submit_all(home, None, columns, &["/help", "/help 2", "/help memory", "/help schedule"])
    });
}

#[test]
fn lists_of_settings_models_and_tools() {
    check("lists", |home, columns| {
        submit_all(home, None, columns, &["/rag config", "/models", "/tools", "/worker"])
    });
}

#[test]
fn approval_of_a_file() {
    check("approval_of_a_file", |home, columns| {
        let provider = ScriptedProvider::start([Reply::tool_call(
            "c1",
            "file_write",
            &json!({"path": "notes.md", "content": "# Notes\n- the first line of the notes is longer than forty columns\n"}),
        )]);
        let terminal = open_repl(home, Some(&provider), columns);
        terminal.submit("Write it");
        terminal.wait_for("in this project:");
        terminal
    });
}

#[test]
fn approval_of_a_command() {
    check("approval_of_a_command", |home, columns| {
        let command =
            "cargo test --workspace --no-fail-fast  -- --nocapture --test-threads 1 the_name_of_a_test";
        let provider =
            ScriptedProvider::start([Reply::tool_call("c1", "execute_bash", &json!({"command": command}))]);
        let terminal = open_repl(home, Some(&provider), columns);
        terminal.submit("Run it");
        terminal.wait_for("in this project:");
        terminal
    });
}

#[test]
fn forget_preview() {
    check("forget_preview", |home, columns| {
        let provider = ScriptedProvider::always(Reply::text("Noted."));
        home.memoir(["-p", "The spare key hangs behind the boiler."]).provider(&provider).succeed();
        let terminal = Terminal::open(home, None, (ROWS, columns), &["memory", "forget", "--exchange", "1"]);
        terminal.wait_for("[y/N]");
        terminal
    });
}

#[test]
fn import_report() {
    check("import", |home, columns| {
        let chat = "12/03/2024, 18:30 - Anna: The gate code is 4711, please don't tell anyone.\n\
                    13/03/2024, 18:31 - Ben: Thanks!\n13/03/2024, 18:32 - Ben: <Media omitted>\n";
        fs::write(home.workspace().join("chat.txt"), chat).unwrap();
        run(home, columns, &["import", "whatsapp", "chat.txt"])
    });
}

#[test]
fn schedule_screens() {
    check("schedule", |home, columns| {
        let prompt = "Summarize the changes since yesterday and say which of them matter to the release.";
        let add = ["schedule", "add", "news", "--once", "2099-12-31 23:00", "--zone", "UTC", prompt];
        home.memoir(add).succeed();
        home.memoir(["schedule", "add", "empty", "--cron", "0 8 * * *", "--zone", "UTC", "Do nothing."])
            .succeed();
        home.memoir(["schedule", "pause", "empty"]).succeed();
        submit_all(home, None, columns, &["/schedule list", "/schedule history news", "/inbox"])
    });
}

#[test]
fn errors() {
    check("errors", |home, columns| {
        let provider = ScriptedProvider::always(Reply::status(401, "invalid key"));
        submit_all(
            home,
            Some(&provider),
            columns,
            &["Hello", "/persona use pirate", "/resume 99", "/rag set rag.token_budget lots", "/nonsense"],
        )
    });
}

#[test]
fn doctor() {
    for columns in WIDTHS {
        let home = home();
        let rows = read_rows(&run(&home, columns, &["doctor"]), columns);
        // The paths on the right differ between machines.
        let names: Vec<&str> = rows.iter().map(|row| row.get(..18).unwrap_or(row).trim_end()).collect();
        let names: Vec<&str> =
            names.into_iter().filter(|name| !name.is_empty() && !name.starts_with(' ')).collect();
        assert_snapshot!(format!("doctor_{columns}"), names.join("\n"));
    }
}
