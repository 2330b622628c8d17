//! Ctrl-C and a changed window size in every state of the REPL.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};
use serde_json::json;

use crate::home;

const ROWS: u16 = 30;
const COLUMNS: u16 = 90;

/// An open REPL with its parts.
struct Session {
    home: TestHome,
    provider: ScriptedProvider,
    terminal: Terminal,
}

impl Session {
    fn open(state: &State) -> Self {
        let home = home();
        let provider = ScriptedProvider::always(Reply::text("Noted."));
        home.memoir(["-p", "The spare key hangs behind the boiler."]).provider(&provider).succeed();
        provider.clear();
        (state.replies)().into_iter().for_each(|reply| provider.push(reply));
        let terminal =
            Terminal::open(&home, Some(&provider), (ROWS, COLUMNS), &["--approval", state.approval]);
        terminal.wait_for_prompt();
        Self { home, provider, terminal }
    }
}

/// A state of the REPL.
struct State {
    name: &'static str,
    approval: &'static str,
    replies: fn() -> Vec<Reply>,
    /// Gets into the state.
    enter: fn(&Session),
    /// Does what leads from the state to a prompt below the text `end`.
    leave: fn(&Session),
    end: &'static str,
}

const STATES: [State; 9] = [
    State {
        name: "a line that is half typed",
        approval: "ask",
        replies: || vec![Reply::text("Done.")],
        enter: |session| {
            session.terminal.type_keys("half a line");
            session.terminal.wait_for("> half a line");
        },
        leave: |session| session.terminal.type_keys("\r"),
        end: "Done.",
    },
    State {
        name: "several lines",
        approval: "ask",
        replies: || vec![Reply::text("Done.")],
        enter: |session| {
            session.terminal.type_keys("the first\u{1b}\rthe second");
            session.terminal.wait_for("the second");
        },
        leave: |session| session.terminal.type_keys("\r"),
        end: "Done.",
    },
    State {
        name: "a search in earlier lines",
        approval: "ask",
        replies: Vec::new,
        enter: |session| {
            session.terminal.submit("/version");
            session.terminal.wait_for("memoir 0.1.0");
            session.terminal.wait_for_prompt();
            session.terminal.type_keys("\u{12}vers");
            session.terminal.wait_for("vers");
        },
        leave: |session| {
            session.terminal.type_keys("\r");
            session.terminal.wait_until("the line", |screen| screen.trim_end().ends_with("> /version"));
            session.terminal.type_keys("\r");
        },
        end: "memoir 0.1.0",
    },
    State {
        name: "a request without an answer yet",
        approval: "ask",
        replies: || vec![Reply::text("Done.")],
        enter: |session| {
            session.provider.hold();
            session.terminal.submit("Tell me");
            session.terminal.wait_for("thinking");
        },
        leave: |session| session.provider.release(),
        end: "Done.",
    },
    State {
        name: "an answer that is being written",
        approval: "ask",
        replies: || vec![Reply::text("Done. The rest of the answer").stalled()],
        enter: |session| {
            session.terminal.submit("Tell me");
            session.terminal.wait_until("the answer", |screen| {
                screen.contains("the answer") && screen.contains("writing")
            });
        },
        leave: |session| session.terminal.type_keys("\u{3}"),
        end: "Done.",
    },
    State {
        name: "a question about a tool call",
        approval: "ask",
        replies: || {
            let arguments = json!({"path": "notes.md", "content": "# Notes\n"});
            vec![Reply::tool_call("c1", "file_write", &arguments), Reply::text("Done.")]
        },
        enter: |session| {
            session.terminal.submit("Write it");
            session.terminal.wait_for("in this project:");
        },
        leave: |session| session.terminal.type_keys("y\r"),
        end: "Done.",
    },
    State {
        name: "a command that runs",
        approval: "full",
        replies: || {
            let command = "echo started; while [ ! -e go ]; do sleep 0.05; done";
            let arguments = json!({"command": command, "timeout": 200});
            vec![Reply::tool_call("c1", "execute_bash", &arguments), Reply::text("Done.")]
        },
        enter: |session| {
            session.terminal.submit("Run it");
            session.terminal.wait_for("  started");
        },
        leave: |session| fs::write(session.home.workspace().join("go"), "").unwrap(),
        end: "Done.",
    },
    State {
        name: "the list of conversations",
        approval: "ask",
        replies: Vec::new,
        enter: |session| {
            session.terminal.submit("/resume");
            session.terminal.wait_for("Resume which conversation?");
            session.terminal.wait_for("spare key");
        },
        leave: |session| session.terminal.type_keys("\r"),
        end: "Resumed conversation 1",
    },
    State {
        name: "a question before something is deleted",
        approval: "ask",
        replies: Vec::new,
        enter: |session| {
            session.terminal.submit("/memory forget --exchange 1");
            session.terminal.wait_for("[y/N]");
        },
        leave: |session| session.terminal.type_keys("n\r"),
        end: "Nothing was changed",
    },
];

#[test]
fn ctrl_c_leads_back_to_the_prompt_from_every_state() {
    for state in STATES {
        let session = Session::open(&state);
        (state.enter)(&session);
        session.terminal.type_keys("\u{3}");
        session.provider.release();
        let screen = session.terminal.wait_for_prompt();
        assert!(!screen.contains("thinking") && !screen.contains("writing"), "{}:\n{screen}", state.name);
        // The REPL still works, and nothing was deleted or written.
        session.terminal.submit("/search boiler");
        session.terminal.wait_for("conversation 1");
        session.terminal.wait_for_prompt();
        assert!(!session.home.workspace().join("notes.md").exists(), "{}", state.name);
    }
}

#[test]
fn a_changed_window_size_disturbs_no_state() {
    for state in STATES {
        let session = Session::open(&state);
        (state.enter)(&session);
        for columns in [60, COLUMNS] {
            session.terminal.set_size(ROWS, columns);
        }
        (state.leave)(&session);
        session.terminal.wait_for(state.end);
        let screen = session.terminal.wait_for_prompt();
        for text in ["Done.", "Resume which", "Allow?", "[y/N]", "thinking", "writing"] {
            let count = screen.matches(text).count();
            assert!(count <= 1, "{} leaves {text:?} on the screen {count} times:\n{screen}", state.name);
        }
    }
}
