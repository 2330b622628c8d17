//! What MCP servers offer besides tools: prompts, resources and reports of progress.

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};
use serde_json::json;

use crate::{confinement::calls, home, servers::server_script};

fn write_stdio_config(home: &TestHome) {
    let script = server_script(home);
    home.write_config(&format!(
        "[mcp.made]\ncommand = \"python3\"\nargs = [\"{script}\", \"stdio\"]\ntimeout = 4\n"
    ));
}

#[test]
fn prompts_of_a_server_are_slash_commands() {
    let home = home();
    write_stdio_config(&home);
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal = Terminal::open(&home, Some(&provider), (30, 100), &["--wait-servers", "made"]);
    terminal.submit("/made:review tone=warm 'my file.txt'");
    terminal.wait_for("Please review my file.txt in a tone that is warm");
    terminal.submit("/made:review");
    terminal.wait_for("/made:review needs the argument file. Type `/made:review FILE [TONE]`.");
    terminal.submit("/made:nothing");
    terminal.wait_for("made has no prompt \"nothing\". It has these: review, plain.");
    terminal.submit("/mcp");
    terminal.wait_for("/made:review");
    terminal.wait_for("@made:note://2");
    terminal.wait_for_prompt();
    assert!(!terminal.stable_text().contains("fake: 3 tools"), "a server cannot forge lines");
    terminal.type_keys("/made:\t");
    terminal.wait_for("harmless");
    terminal.type_keys("\u{15}@made:\t");
    terminal.wait_for("Foo_(bar)");
    let output = terminal.output();
    assert!(!output.contains("\u{1b}]0;PWNED") && !output.contains("PWNED\u{1b}[31m"), "{output:?}");
    let requests = provider.requests();
    assert_eq!(requests.len(), 1, "an incomplete command asks nothing");
    assert!(requests[0].body.to_string().contains("Please review my file.txt in a tone that is warm"));
    let stored = home.memoir(["export", "--format", "jsonl"]).succeed();
    assert!(stored.contains("\"by_others\":true"), "the server wrote the prompt: {stored}");
}

#[test]
fn resources_are_attached_by_name_and_fetched_by_the_model() {
    let home = home();
    write_stdio_config(&home);
    let provider = ScriptedProvider::always(Reply::text("The cat."));
    home.memoir(["-p", "Who is hungry, see @made:note://2?"]).provider(&provider).succeed();
    let body = provider.requests()[0].body.to_string();
    assert!(body.contains("<file path=\\\"made:note://2\\\">"), "{body}");
    assert!(body.contains("The note says: feed the cat."), "{body}");
    home.memoir(["-p", "Read @made:wiki://Foo_(bar)"]).provider(&provider).succeed();
    let body = provider.requests()[1].body.to_string();
    assert!(body.contains("feed the cat. wiki://Foo_(bar)"), "a listed name keeps its punctuation: {body}");
    let results = calls(&home, "full", &[("made__fetch_resource", json!({"uri": "note://3"}))]);
    assert_eq!(results, ["<memory>\n[resource note://3]\nThe note says: feed the cat. note://3\n</memory>"]);
    let refused = calls(&home, "ask", &[("made__fetch_resource", json!({"uri": "note://3"}))]);
    assert!(refused[0].starts_with("error:"), "it needs approval like other tools: {refused:?}");

    home.write_config("[mcp.made]\ncommand = \"false\"\n");
    let output = home.memoir(["-p", "See @made:note://2"]).provider(&provider).output();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(
        notes.contains("Could not attach @made:note://2: the MCP server made is not connected"),
        "{notes}"
    );
}

#[test]
fn progress_is_shown_and_extends_the_time_limit() {
    let home = home();
    write_stdio_config(&home);
    let script = [Reply::tool_call("c0", "made__slow", &json!({"word": "12"})), Reply::text("Done.")];
    let provider = ScriptedProvider::start(script);
    let events = home
        .memoir(["-p", "go", "--approval", "full", "--wait-servers", "all", "--output-format", "stream-json"])
        .provider(&provider)
        .succeed();
    let progress =
        "{\"type\":\"tool_progress\",\"id\":\"c0\",\"name\":\"made__slow\",\"text\":\"2 of 12, copying";
    assert!(events.contains(progress), "{events}");
    let script = [Reply::tool_call("c0", "made__slow", &json!({"word": "3"})), Reply::text("Done.")];
    let provider = ScriptedProvider::start(script);
    let terminal =
        Terminal::open(&home, Some(&provider), (24, 100), &["--wait-servers", "made", "--approval", "full"]);
    terminal.submit("go");
    terminal.wait_for("made__slow: 2 of 3, copying");
    terminal.wait_for("Done.");
    assert!(!terminal.output().contains("\u{1b}[31mthings"), "the server cannot colour the screen");
}
