//! Ctrl-C and a changed window size in every state of the REPL.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};
use serde_json::json;

use crate::home;

const ROWS: u16 = 30;
const COLUMNS: u16 = 90;

/// Width after the change.
const NARROW: u16 = 60;

/// An open REPL with its parts.
struct OpenRepl {
    home: TestHome,
    provider: ScriptedProvider,
    terminal: Terminal,
}

impl OpenRepl {
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

/// A running turn.
struct Turn {
    /// Lets it end.
    finish: fn(&OpenRepl),
    /// Text that appears at its end.
    end: &'static str,
}

/// A state of the REPL.
struct State {
    name: &'static str,
    approval: &'static str,
    replies: fn() -> Vec<Reply>,
    /// Gets into the state.
    enter: fn(&OpenRepl),
    /// The turn that runs, if one does.
    turn: Option<Turn>,
}

const STATES: [State; 9] = [
    State {
        name: "a line that is half typed",
        approval: "ask",
        replies: || vec![Reply::text("Done.")],
        enter: |repl| {
            repl.terminal.type_keys("half a line");
            repl.terminal.wait_for("> half a line");
        },
        turn: None,
    },
    State {
        name: "several lines",
        approval: "ask",
        replies: || vec![Reply::text("Done.")],
        enter: |repl| {
            repl.terminal.type_keys("the first\u{1b}\rthe second");
            repl.terminal.wait_for("the second");
        },
        turn: None,
    },
    State {
        name: "a search in earlier lines",
        approval: "ask",
        replies: || vec![Reply::text("Done.")],
        enter: |repl| {
            repl.terminal.type_keys("\u{12}spare");
            repl.terminal.wait_for("The spare key hangs");
        },
        turn: None,
    },
    State {
        name: "a request without an answer yet",
        approval: "ask",
        replies: || vec![Reply::text("Done.")],
        enter: |repl| {
            repl.provider.hold();
            repl.terminal.submit("Tell me");
            repl.terminal.wait_for("thinking");
        },
        turn: Some(Turn { finish: |repl| repl.provider.release(), end: "Done." }),
    },
    State {
        name: "an answer that is being written",
        approval: "ask",
        replies: || vec![Reply::text("Done. The rest of the answer").stalled()],
        enter: |repl| {
            repl.terminal.submit("Tell me");
            repl.terminal.wait_until("the answer", |screen| {
                screen.contains("the answer") && screen.contains("writing")
            });
        },
        turn: Some(Turn { finish: |repl| repl.terminal.type_keys("\u{3}"), end: "Cancelled" }),
    },
    State {
        name: "a question about a tool call",
        approval: "ask",
        replies: || {
            let arguments = json!({"path": "notes.md", "content": "# Notes\n"});
            vec![Reply::tool_call("c1", "file_write", &arguments), Reply::text("Done.")]
        },
        enter: |repl| {
            repl.terminal.submit("Write it");
            repl.terminal.wait_for("in this project:");
        },
        turn: Some(Turn { finish: |repl| repl.terminal.type_keys("y\r"), end: "Done." }),
    },
    State {
        name: "a command that runs",
        approval: "full",
        replies: || {
            let command = "echo started; while [ ! -e go ]; do sleep 0.05; done";
            let arguments = json!({"command": command, "timeout": 200});
            vec![Reply::tool_call("c1", "execute_bash", &arguments), Reply::text("Done.")]
        },
        enter: |repl| {
            repl.terminal.submit("Run it");
            repl.terminal.wait_for("  started");
        },
        turn: Some(Turn {
            finish: |repl| fs::write(repl.home.workspace().join("go"), "").unwrap(),
            end: "Done.",
        }),
    },
    State {
        name: "the list of conversations",
        approval: "ask",
        replies: Vec::new,
        enter: |repl| {
            repl.terminal.submit("/resume");
            repl.terminal.wait_for("Resume which conversation?");
            repl.terminal.wait_for("spare key");
        },
        turn: None,
    },
    State {
        name: "a question before something is deleted",
        approval: "ask",
        replies: Vec::new,
        enter: |repl| {
            repl.terminal.submit("/memory forget --exchange 1");
            repl.terminal.wait_for("[y/N]");
        },
        turn: None,
    },
];

#[test]
fn ctrl_c_leads_back_to_the_prompt_from_every_state() {
    for state in STATES {
        let repl = OpenRepl::open(&state);
        (state.enter)(&repl);
        repl.terminal.type_keys("\u{3}");
        repl.provider.release();
        let screen = repl.terminal.wait_for_prompt();
        assert!(!screen.contains("thinking") && !screen.contains("writing"), "{}:\n{screen}", state.name);
        // The REPL still works, and nothing was deleted or written.
        repl.terminal.submit("/search boiler");
        repl.terminal.wait_for("conversation 1");
        repl.terminal.wait_for_prompt();
        assert!(!repl.home.workspace().join("notes.md").exists(), "{}", state.name);
    }
}

#[test]
fn a_changed_window_size_does_not_disturb_a_turn() {
    // The line editor and the list of conversations may lose keys that are typed while the size changes.
    for state in STATES {
        let Some(turn) = &state.turn else { continue };
        let repl = OpenRepl::open(&state);
        (state.enter)(&repl);
        repl.terminal.set_size(ROWS, NARROW);
        (turn.finish)(&repl);
        repl.terminal.wait_for(turn.end);
        let screen = repl.terminal.wait_for_prompt();
        for text in ["Done.", "Allow?", "[y/N]", "thinking", "writing"] {
            let count = screen.matches(text).count();
            assert!(count <= 1, "{} leaves {text:?} on the screen {count} times:\n{screen}", state.name);
        }
    }
}
