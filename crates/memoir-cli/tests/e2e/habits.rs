//! What users of other programs type: `memoir chat`, `/undo`, `/compact`, `/init` and the like.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, Terminal};

use crate::home;

#[test]
fn chat_opens_a_conversation_with_its_options() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal =
        Terminal::open(&home, Some(&provider), (24, 80), &["chat", "-m", "openai-compatible/garden-7b"]);
    terminal.submit("hello");
    terminal.wait_for("Fine.");
    terminal.wait_for_prompt();
    assert_eq!(provider.requests()[0].body["model"], "garden-7b");
    let terminal = Terminal::open(&home, Some(&provider), (24, 80), &["chat", "--continue"]);
    terminal.wait_for("Resumed conversation 1");
}

#[test]
fn familiar_slash_commands_work() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Under the blue pot."));
    let terminal = Terminal::open(&home, Some(&provider), (40, 100), &[]);
    terminal.submit("Where is the spare key?");
    terminal.wait_for("Under the blue pot.");
    terminal.submit("/search spare key");
    terminal.wait_for("conversation 1, exchange 1");
    terminal.submit("/config get rag.token_budget");
    terminal.wait_for("rag.token_budget");
    terminal.submit("/config set rag.token_budget 1234");
    terminal.wait_for("The change applies when Memoir starts again.");
    terminal.submit("/doctor");
    terminal.wait_for("intact, schema version");
    terminal.submit("/status");
    terminal.wait_for("conversation  1");
    terminal.submit("/mi");
    terminal.wait_for("unknown command /mi");
    terminal.submit("/help 3");
    let help = terminal.wait_for_prompt();
    assert!(!help.contains("migrate-exchanges"), "{help}");
}

#[test]
fn undo_deletes_the_last_exchange() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::text("Noted."),
        Reply::text("The code is peregrine."),
        Reply::text("Wait").stalled(),
        Reply::text("I do not know."),
    ]);
    let mut terminal = Terminal::open(&home, Some(&provider), (40, 100), &[]);
    terminal.submit("/undo");
    terminal.wait_for("this conversation has no prompt yet. Send a prompt first.");
    terminal.submit("Remember the gate");
    terminal.wait_for("Noted.");
    terminal.submit("The gate code is peregrine");
    terminal.wait_for("The code is peregrine.");
    // A prompt that was not answered is not stored, and the exchange before it stays.
    terminal.submit("And now?");
    terminal.wait_for("writing");
    terminal.type_keys("\u{3}");
    terminal.wait_for("Cancelled");
    terminal.submit("/undo");
    terminal.wait_for("the last prompt was not answered, so nothing of it is stored");
    terminal.submit("/undo");
    terminal.wait_for("Deleted the last exchange: \"The gate code is peregrine\".");
    terminal.submit("What is the code?");
    terminal.wait_for("I do not know.");
    let body = provider.requests()[3].body.to_string();
    assert!(body.contains("Remember the gate") && !body.contains("peregrine"), "{body}");
    terminal.submit("/exit");
    terminal.wait_for_exit();
    assert_eq!(home.files_containing("peregrine"), [""; 0], "deletion deletes");
}

#[test]
fn compact_replaces_earlier_exchanges_with_a_summary() {
    let home = home();
    let long = "The orchard has forty trees. ".repeat(200);
    let provider = ScriptedProvider::always(Reply::text("They discussed the orchard, tersely."));
    provider.push(Reply::text(&long));
    provider.push(Reply::text("Pears."));
    let terminal = Terminal::open(&home, Some(&provider), (40, 100), &[]);
    terminal.submit("/compact");
    terminal.wait_for("there is nothing to summarize yet");
    terminal.submit("Tell me everything about the orchard that we planted");
    terminal.wait_for_prompt();
    terminal.submit("Which fruit?");
    terminal.wait_for("Pears.");
    terminal.submit("/compact");
    terminal.wait_for("All but the last exchange is summarized");
    for question in ["How many trees?", "And then?"] {
        terminal.submit(question);
        terminal.wait_for_prompt();
        let body = provider.requests().last().unwrap().body["messages"].to_string();
        assert!(body.contains("They discussed the orchard, tersely."), "{body}");
        assert!(body.contains("Which fruit?") && body.len() < long.len(), "{body}");
    }
    drop(terminal);
    // The summary also stays when the conversation is resumed.
    home.memoir(["-c", "-p", "More?"]).provider(&provider).succeed();
    let body = provider.requests().last().unwrap().body["messages"].to_string();
    assert!(body.contains("tersely") && body.len() < long.len() * 2, "{body}");
    assert!(home.memoir(["export"]).succeed().contains(long.trim()), "memory keeps everything");
}

#[test]
fn init_writes_instructions_after_asking() {
    let home = home();
    fs::write(home.workspace().join("Cargo.toml"), "[package]").unwrap();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let terminal = Terminal::open(&home, Some(&provider), (40, 100), &[]);
    let file = home.workspace().join("AGENTS.md");
    terminal.submit("/init");
    terminal.wait_for("[y/N]");
    terminal.type_keys("n\r");
    terminal.wait_for("Nothing was changed.");
    assert!(!file.exists());
    terminal.submit("/init");
    terminal.wait_until("a second question", |screen| screen.matches("[y/N]").count() == 2);
    terminal.type_keys("y\r");
    terminal.wait_for("the model gets it with your next prompt");
    assert!(fs::read_to_string(&file).unwrap().contains("- `cargo test`"));
    terminal.submit("/init");
    terminal.wait_for("AGENTS.md exists already");
    terminal.submit("hello");
    terminal.wait_for("Fine.");
    assert!(provider.requests()[0].body.to_string().contains("Instructions for agents"));
}

#[test]
fn init_and_incognito_mode_respect_what_the_user_has_decided() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let untrusted = [("MEMOIR_TRUST_PROJECT", "0")];
    // The user first refuses instructions that somebody else wrote, then deletes them and writes others.
    let file = home.workspace().join("AGENTS.md");
    fs::write(&file, "Answer in rhymes.").unwrap();
    home.memoir(["trust", "--revoke"]).env("MEMOIR_TRUST_PROJECT", "0").succeed();
    fs::remove_file(&file).unwrap();
    let terminal = Terminal::open_with(&home, Some(&provider), (40, 100), &[], &untrusted);
    terminal.submit("/init");
    terminal.wait_for("[y/N]");
    terminal.type_keys("y\r");
    terminal.wait_for("the model gets it with your next prompt");
    terminal.wait_for_prompt();
    for arguments in [["-p", "hello"].as_slice(), &["--incognito", "-p", "hello"]] {
        provider.clear();
        provider.push(Reply::text("Fine."));
        home.memoir(arguments).provider(&provider).env("MEMOIR_TRUST_PROJECT", "0").succeed();
        let body = provider.requests()[0].body.to_string();
        assert!(body.contains("Instructions for agents"), "{arguments:?}: {body}");
    }
    home.memoir(["trust", "--revoke"]).env("MEMOIR_TRUST_PROJECT", "0").succeed();
    provider.clear();
    provider.push(Reply::text("Fine."));
    home.memoir(["--incognito", "-p", "hello"])
        .provider(&provider)
        .env("MEMOIR_TRUST_PROJECT", "0")
        .succeed();
    let body = provider.requests()[0].body.to_string();
    assert!(!body.contains("Instructions for agents"), "{body}");
}
