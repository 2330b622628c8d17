//! Conversations at 40, 80 and 120 columns: answers, tools, pastes, lists and commands.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, Terminal};
use serde_json::json;

use crate::widths::{ROWS, check, open_repl, submit_all};

/// An answer with paragraphs, a list, a table, code and a quotation.
const ANSWER: &str = "The stations of the valley are checked **every Thursday**, before the snow comes.\n\n\
| station | battery | volts |\n| --- | --- | ---: |\n| Ridge | LiFePO4 | 3.2 |\n| Chapel | 18650 | 3.7 |\n\n\
1. Read `config.toml`\n2. Climb the mast of the station that has sent nothing since yesterday\n\n\
```rust\nfn main() {\n    println!(\"hello\"); // greet\n}\n```\n\n\
> Said by Marek, who built them.\n";

#[test]
fn answer_and_status() {
    check("answer", |home, columns| {
        let provider = ScriptedProvider::start([Reply::text(ANSWER).in_chunks_of(3).usage(1200, 80, 600)]);
        submit_all(home, Some(&provider), columns, &["Which stations are checked, and when?"])
    });
}

#[test]
fn tools_and_changes() {
    check("tools", |home, columns| {
        let code = "one\ntwo\nthree\nfour, which is a line with more than forty columns in it\nfive\n";
        fs::write(home.workspace().join("list.txt"), code).unwrap();
        let edit = json!({"path": "list.txt", "operation": "replace", "anchor": "two", "text": "2"});
        let command = "for number in $(seq 30); do echo \"line $number of the output\"; done";
        let provider = ScriptedProvider::start([
            Reply::tool_call("c1", "file_read", &json!({"path": "list.txt"})),
            Reply::tool_call("c2", "file_read", &json!({"path": "missing.txt"})),
            Reply::tool_call("c3", "file_edit", &edit),
            Reply::tool_call("c4", "execute_bash", &json!({"command": command})),
            Reply::text("Done."),
        ]);
        let terminal = Terminal::open(home, Some(&provider), (ROWS, columns), &["--approval", "full"]);
        terminal.submit("Change it");
        terminal.wait_for("Done.");
        terminal.submit("/last");
        terminal.wait_for_prompt();
        terminal
    });
}

#[test]
fn paste_and_several_lines() {
    check("paste", |home, columns| {
        let provider = ScriptedProvider::always(Reply::text("Fine."));
        let terminal = open_repl(home, Some(&provider), columns);
        terminal.type_keys(&format!("\u{1b}[200~{}\u{1b}[201~", "row\n".repeat(30).trim_end()));
        terminal.wait_for("> [pasted 30 lines]");
        terminal.type_keys("\u{1b}\rsummarize this");
        terminal.wait_for("summarize this");
        terminal.type_keys("\r");
        terminal.wait_for("Fine.");
        terminal.wait_for_prompt();
        terminal
    });
}

#[test]
fn completion_of_files() {
    check("files", |home, columns| {
        for name in ["garden.md", "garage.md", "gallery-of-the-garden.md"] {
            fs::write(home.workspace().join(name), "text").unwrap();
        }
        let terminal = open_repl(home, None, columns);
        terminal.type_keys("compare @ga\t");
        terminal.wait_for("garage.md");
        terminal.wait_for("gallery");
        terminal
    });
}

#[test]
fn list_of_conversations() {
    check("resume", |home, columns| {
        let provider = ScriptedProvider::always(Reply::text("The gate opens at seven in the morning."));
        for prompt in ["When does the gate of the harbour open in winter?", "And in summer?"] {
            let arguments =
                if prompt.starts_with("And") { vec!["-c", "-p", prompt] } else { vec!["-p", prompt] };
            home.memoir(arguments).provider(&provider).succeed();
        }
        home.memoir(["-p", "Who repairs the crane?"]).provider(&provider).succeed();
        let terminal = open_repl(home, Some(&provider), columns);
        terminal.submit("/resume");
        terminal.wait_for("Esc to cancel]");
        terminal
    });
    check("resumed", |home, columns| {
        let provider = ScriptedProvider::always(Reply::text("The gate opens at seven in the morning."));
        home.memoir(["-p", "When does the gate of the harbour open in winter?"])
            .provider(&provider)
            .succeed();
        submit_all(home, Some(&provider), columns, &["/resume 1", "/history"])
    });
}

#[test]
fn familiar_commands() {
    check("commands", |home, columns| {
        let provider = ScriptedProvider::always(Reply::text("Under the blue pot."));
        let commands = [
            "/serch",
            "/undo",
            "/compact",
            "/mcp",
            "/cost",
            "/config get terminal.keys",
            "/approval",
            "/persona",
            "/docs",
            "/import found",
        ];
        submit_all(home, Some(&provider), columns, &commands)
    });
}

#[test]
fn sources_and_search() {
    check("sources", |home, columns| {
        let notes = "# Workshop\n\n## Saw\n\nThe blade of the saw is changed after 40 hours. New ones are in drawer 7.\n";
        fs::write(home.workspace().join("the-handbook-of-the-workshop.md"), notes).unwrap();
        home.memoir(["docs", "add", "the-handbook-of-the-workshop.md"]).succeed();
        let statement = "We met the plumber today. The spare key hangs behind the boiler, next to the fuse box. It rained.";
        home.memoir(["-p", statement]).succeed();
        // The status line would show the workers as long as they run.
        home.memoir(["worker", "run", "--until-idle"]).succeed();
        submit_all(
            home,
            None,
            columns,
            &[
                "Where does the spare key hang?",
                "When is the blade of the saw changed?",
                "/search saw",
                "/docs list",
            ],
        )
    });
}
