//! Control over stored data: pins and corrections, forks, retries, exports, backups, incognito mode and personas.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome, database::Edit};
use serde_json::Value;

use crate::home;

const SIZE: (u16, u16) = (30, 100);

fn open(home: &TestHome, provider: &ScriptedProvider, arguments: &[&str]) -> Terminal {
    let terminal = Terminal::open(home, Some(provider), SIZE, arguments);
    terminal.wait_for_prompt();
    terminal
}

fn send_prompts(home: &TestHome, prompts: &[&str]) {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    for prompt in prompts {
        home.memoir(["-p", prompt]).provider(&provider).succeed();
    }
}

fn search_exchanges(home: &TestHome, query: &str) -> Vec<i64> {
    home.search(query).iter().map(|passage| passage["exchange_id"].as_i64().unwrap()).collect()
}

#[test]
fn pinned_exchanges_rank_first_and_wrong_ones_last_with_a_note() {
    let home = home();
    let prompts = [
        "The gate code of the allotment is written on the blue card.",
        "The gate code of the allotment hangs beside the kitchen door.",
        "The gate code of the allotment is known to Mrs. Weber.",
    ];
    send_prompts(&home, &prompts);
    let before = search_exchanges(&home, "gate code of the allotment");
    assert_eq!(before.len(), 3, "{before:?}");
    let (first, last) = (before[0].to_string(), before[2].to_string());
    home.memoir(["memory", "pin", &last]).succeed();
    home.memoir(["memory", "wrong", &first]).succeed();
    let after = search_exchanges(&home, "gate code of the allotment");
    assert_eq!((after[0], after[2]), (before[2], before[0]), "{after:?}");
    let output = home.memoir(["search", "gate", "code", "of the allotment"]).succeed();
    assert!(output.contains("superseded on 20"), "{output}");
    let provider = ScriptedProvider::always(Reply::text("Ask Mrs. Weber."));
    home.memoir(["-p", "What is the gate code of the allotment?"]).provider(&provider).succeed();
    assert!(
        provider.requests()[0].body.to_string().contains("superseded on 20"),
        "the model sees the note, too"
    );

    let list = home.memoir(["memory", "list"]).succeed();
    assert!(list.contains(&format!("pinned\n  exchange {last}")), "{list}");
    assert!(list.contains(&format!("marked as wrong\n  exchange {first}")), "{list}");
    let json: Value = serde_json::from_str(&home.memoir(["memory", "list", "--json"]).succeed()).unwrap();
    assert_eq!(json["pinned"][0]["exchange"]["id"].to_string(), last);
    assert!(home.memoir(["memory", "unpin", &first]).succeed().contains("is not pinned."));
    home.memoir(["memory", "right", &first]).succeed();
    home.memoir(["memory", "unpin", &last]).succeed();
    let mut restored = search_exchanges(&home, "gate code of the allotment");
    restored.retain(|exchange| before.contains(exchange));
    assert_eq!(restored, before);
    let stderr = home.memoir(["memory", "pin", "999"]).fail(2);
    assert!(stderr.contains("there is no exchange 999."), "{stderr}");
    let output = home.memoir(["memory", "show", &last]).succeed();
    assert!(output.contains("you\nThe gate code") && output.contains("assistant\nNoted."), "{output}");
}

#[test]
fn core_memory_is_edited_from_the_command_line() {
    let home = home();
    home.memoir(["memory", "edit", "user", "Lives", "in", "Graz."]).succeed();
    assert!(home.memoir(["memory", "show"]).succeed().contains("  Lives in Graz."));
    let provider = ScriptedProvider::always(Reply::text("Servus."));
    home.memoir(["-p", "Hello there, how are you?"]).provider(&provider).succeed();
    assert!(provider.requests()[0].body.to_string().contains("Lives in Graz."));
    home.memoir(["memory", "undo"]).succeed();
    assert!(!home.memoir(["memory", "show"]).succeed().contains("Graz"));
    let stderr = home.memoir(["memory", "edit", "users", "x"]).fail(2);
    assert!(stderr.contains("[possible values: user, project, instructions]"), "{stderr}");
    assert!(home.memoir(["memory", "edit", "user"]).fail(2).contains("no editor is set."));
}

#[test]
fn a_fork_shares_the_past_and_continues_separately() {
    let home = home();
    let provider = ScriptedProvider::start(
        ["About trains.", "By night train.", "By bicycle.", "Still by bicycle."].map(Reply::text),
    );
    let mut terminal = open(&home, &provider, &[]);
    terminal.submit("/fork");
    terminal.wait_for("this conversation has no messages yet.");
    terminal.wait_for_prompt();
    terminal.submit("Let us plan the trip to Ljubljana");
    terminal.wait_for("About trains.");
    terminal.wait_for_prompt();
    terminal.submit("/fork");
    terminal.wait_for("This is now conversation 2, a fork of 1. Return with `/resume 1`.");
    terminal.wait_for_prompt();
    terminal.submit("/retry");
    terminal.wait_for("this fork has no prompt of its own yet.");
    terminal.wait_for_prompt();
    terminal.submit("How do we get there?");
    terminal.wait_for("By night train.");
    terminal.wait_for_prompt();
    let sent = provider.requests()[1].messages();
    assert!(
        sent.iter().any(|(_, text)| text == "About trains."),
        "the fork includes the earlier exchange: {sent:?}"
    );
    terminal.submit("/resume 1");
    terminal.wait_for("Resumed conversation 1: Let us plan the trip");
    terminal.wait_for_prompt();
    terminal.submit("How else?");
    terminal.wait_for("By bicycle.");
    terminal.wait_for_prompt();
    let sent = provider.requests()[2].messages();
    assert!(sent.iter().all(|(role, text)| role == "system" || text != "By night train."), "{sent:?}");
    terminal.submit("/resume 2");
    terminal.wait_for("Resumed conversation 2");
    terminal.wait_for_prompt();
    terminal.submit("/fork");
    terminal.wait_for("This is now conversation 3,");
    terminal.wait_for_prompt();
    terminal.submit("/resume 2");
    terminal.wait_until("the second again", |screen| screen.matches("Resumed conversation 2").count() == 2);
    terminal.wait_for_prompt();
    terminal.submit("/retry");
    terminal.wait_for("another conversation was forked from this answer.");
    terminal.wait_for_prompt();
    terminal.submit("/memory forget --conversation 2 --yes");
    terminal.wait_for("This conversation was deleted, so a new one starts.");
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
    let transcript = home.memoir(["conversations", "show", "3"]).succeed();
    assert!(transcript.contains("About trains.") && !transcript.contains("night train"), "{transcript}");
    home.memoir(["-r", "1", "--fork", "-p", "Sure?"]).provider(&provider).succeed();
    let list = home.memoir(["conversations", "list"]).succeed();
    assert!(list.contains("(fork of 1)"), "{list}");
    let stderr = home.memoir(["--fork", "-p", "x"]).fail(2);
    assert!(stderr.contains("`--fork` needs a conversation. Add `-c`"), "{stderr}");
    // An exchange deleted in the parent is deleted in its forks.
    home.memoir(["memory", "forget", "--exchange", "1", "--yes"]).succeed();
    let transcript = home.memoir(["conversations", "show", "4"]).succeed();
    assert!(!transcript.contains("Ljubljana") && transcript.contains("Still by bicycle."), "{transcript}");
}

#[test]
fn a_retry_replaces_the_last_answer() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::text("A first thought."),
        Reply::status(400, "no"),
        Reply::text("A better thought."),
        Reply::status(400, "no"),
        Reply::text("The best thought."),
        Reply::text("After all that."),
    ]);
    let mut terminal = open(&home, &provider, &[]);
    terminal.submit("/retry");
    terminal.wait_for("this conversation has no prompt yet.");
    terminal.wait_for_prompt();
    terminal.submit("What do you think?");
    terminal.wait_for("A first thought.");
    terminal.wait_for_prompt();
    // A failed retry keeps the old answer, and the next retry still replaces it.
    terminal.submit("/retry");
    terminal.wait_for("Use `/retry` to send");
    terminal.wait_for_prompt();
    assert_eq!(home.exchanges().len(), 1);
    terminal.submit("/retry");
    terminal.wait_for("A better thought.");
    terminal.wait_for_prompt();
    let sent = provider.requests()[2].body.to_string();
    assert!(!sent.contains("A first thought."), "the replaced answer is not sent: {sent}");
    assert_eq!(home.exchanges().len(), 1);
    // A failed new prompt replaces nothing and can be retried.
    terminal.submit("Really?");
    terminal.wait_until("the second failure", |screen| screen.matches("Use `/retry` to send").count() == 2);
    terminal.wait_for_prompt();
    terminal.submit("/retry");
    terminal.wait_for("The best thought.");
    terminal.wait_for_prompt();
    assert_eq!(home.exchanges().len(), 2);
    terminal.submit("/copy");
    terminal.wait_for("Copied 17 characters to the clipboard of your terminal.");
    terminal.wait_for_prompt();
    terminal.submit("/copy code");
    terminal.wait_for("the last answer contains no code block.");
    terminal.wait_for_prompt();
    terminal.submit("And?");
    terminal.wait_for("After all that.");
    let sent = provider.requests()[5].messages();
    assert!(sent.iter().any(|(_, text)| text == "A better thought."), "{sent:?}");
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(home.count_calls("chat"), 4, "every answer was paid for");
}

#[test]
fn an_export_can_be_imported_into_another_home() {
    let home_a = home();
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "dir_list", &serde_json::json!({"path": "."})),
        Reply::text("The **folder** is empty."),
        Reply::text("Sourdough needs time."),
    ]);
    home_a.memoir(["-p", "What is in this folder?"]).provider(&provider).succeed();
    home_a.memoir(["-p", "How long does sourdough take?"]).provider(&provider).succeed();
    let text = home_a.memoir(["export"]).succeed();
    assert!(
        text.contains("# What is in this folder?") && text.contains("The **folder** is empty."),
        "{text}"
    );
    assert!(text.contains("# How long does sourdough take?"), "{text}");
    let single_export = home_a.memoir(["export", "--conversation", "2"]).succeed();
    assert!(!single_export.contains("folder"), "{single_export}");
    let file = home_a.workspace().join("all.jsonl");
    home_a.memoir(["export", "--format", "jsonl", "-o", "all.jsonl"]).succeed();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let output = home_a.memoir(["import", "memoir", "all.jsonl"]).succeed();
    assert!(
        output.starts_with("Imported 0 messages in 0 conversations; 2 conversations were already"),
        "{output}"
    );

    let home_b = home();
    let path = file.to_str().unwrap();
    let output = home_b.memoir(["import", "memoir", path, "--dry-run"]).succeed();
    assert!(output.starts_with("Would import 6 messages in 2 conversations;"), "{output}");
    assert!(home_b.conversations().is_empty());
    home_b.memoir(["import", "memoir", path]).succeed();
    assert_eq!(
        home_b.memoir(["export"]).succeed().matches("sourdough").count(),
        text.matches("sourdough").count()
    );
    let second_export = home_b.workspace().join("back.jsonl");
    home_b.memoir(["export", "--format", "jsonl", "-o", "back.jsonl"]).succeed();
    let output = home_a.memoir(["import", "memoir", second_export.to_str().unwrap()]).succeed();
    assert!(
        output.starts_with("Imported 0 messages in 0 conversations;"),
        "the conversations are recognized: {output}"
    );
    let stderr = home_a.memoir(["export", "--conversation", "77"]).fail(2);
    assert!(stderr.contains("there is no conversation 77."), "{stderr}");
    let stderr = home_a.memoir(["export", "-o", "no/such/folder/x.md"]).fail(1);
    assert!(stderr.contains("could not write"), "{stderr}");
}

#[test]
fn a_backup_is_made_while_the_database_is_in_use_and_restored() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let mut terminal = open(&home, &provider, &[]);
    terminal.submit("The quokka lives on Rottnest");
    terminal.wait_for("Noted.");
    terminal.wait_for_prompt();
    terminal.submit("/backup copy");
    terminal.wait_for("Restore it with `memoir restore`.");
    terminal.wait_for_prompt();
    terminal.submit("/backup copy");
    terminal.wait_for("copy already exists.");
    terminal.wait_for_prompt();
    terminal.submit("The numbat lives in Dryandra");
    terminal.wait_until("the second answer", |screen| screen.matches("Noted.").count() == 2);
    terminal.wait_for_prompt();
    let copy = home.workspace().join("copy");
    let stderr = home.memoir(["restore", "copy", "--yes"]).fail(1);
    assert!(
        stderr.contains("another process has the database open. Stop every running `memoir`"),
        "{stderr}"
    );
    terminal.submit("/exit");
    terminal.wait_for_exit();
    let stderr = home.memoir(["restore", "copy"]).fail(2);
    assert!(
        stderr.contains("this needs confirmation, but stdin is not a terminal. Add `--yes`."),
        "{stderr}"
    );
    // Each restore keeps the data that it replaces, even twice within a minute.
    for _ in 0..2 {
        let output = home.memoir(["restore", "copy", "--yes"]).succeed();
        assert!(output.contains("Restored the backup. The previous memory is in"), "{output}");
    }
    let previous_copies = fs::read_dir(home.memoir_home()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("before-restore")
            && entry.as_ref().unwrap().path().join("memoir.db").is_file()
    });
    assert_eq!(previous_copies.count(), 2);
    let export = home.memoir(["export"]).succeed();
    assert!(export.contains("quokka") && !export.contains("numbat"), "{export}");
    let stderr = home.memoir(["restore", "nothing", "--yes"]).fail(2);
    assert!(stderr.contains("nothing is not a backup."), "{stderr}");
    let bytes = fs::read(copy.join("memoir.db")).unwrap();
    fs::write(copy.join("memoir.db"), &bytes[..bytes.len() / 2]).unwrap();
    let stderr = home.memoir(["restore", "copy", "--yes"]).fail(1);
    assert!(stderr.contains("damaged"), "{stderr}");
    fs::write(copy.join("memoir.db"), &bytes).unwrap();
    fs::write(home.database(), "the disk ate it").unwrap();
    home.memoir(["restore", "copy", "--yes"]).succeed();
    assert!(home.memoir(["export"]).succeed().contains("quokka"));
}

#[test]
fn incognito_mode_stores_nothing_and_recalls_nothing() {
    let home = home();
    send_prompts(&home, &["My sister lives in Maribor, above the bakery."]);
    let before = home.snapshot();
    let provider = ScriptedProvider::always(Reply::text("I see."));
    home.memoir(["--incognito", "-p", "Where does my sister live? zanzarra"]).provider(&provider).succeed();
    assert!(!provider.requests()[0].body.to_string().contains("Maribor"));
    let mut terminal = open(&home, &provider, &["--incognito"]);
    terminal.wait_for("Incognito: memory is neither read nor written.");
    terminal.submit("The word is zanzarra");
    terminal.wait_for("I see.");
    terminal.wait_for_prompt();
    terminal.submit("Which word?");
    terminal.wait_until("the second answer", |screen| screen.matches("I see.").count() == 2);
    assert!(
        provider.requests()[2].messages().iter().any(|(_, text)| text.contains("zanzarra")),
        "earlier messages are sent within the conversation"
    );
    terminal.wait_for_prompt();
    terminal.submit("/new");
    terminal.wait_for("Started a new conversation");
    terminal.wait_for_prompt();
    terminal.submit("/backup x");
    terminal.wait_for("/backup needs memory, which is off in incognito mode.");
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    terminal.wait_for_exit();
    assert_eq!(home.snapshot(), before);
    for file in fs::read_dir(home.memoir_home()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(8).any(|part| part == b"zanzarra"));
    }
    home.memoir(["--incognito", "-c", "-p", "x"]).fail(2);
    // Deny rules apply in incognito mode, too.
    home.memoir(["config", "set", "approval.mode", "full"]).succeed();
    let session = open(&home, &provider, &[]);
    session.submit("/approval deny file_write");
    session.wait_for("file_write");
    session.wait_for_prompt();
    drop(session);
    let writes = ScriptedProvider::start([
        Reply::tool_call("c1", "file_write", &serde_json::json!({"path": "x.txt", "content": "x"})),
        Reply::text("I may not."),
    ]);
    home.memoir(["--incognito", "-p", "write it"]).provider(&writes).succeed();
    assert!(!home.workspace().join("x.txt").exists());
    // Incognito mode does not create a database.
    let fresh = crate::home();
    fresh.memoir(["--incognito", "-p", "hello there"]).provider(&provider).succeed();
    assert!(!fresh.database().exists());
}

#[test]
fn a_persona_is_created_used_and_deleted() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Arr."));
    let mut terminal = open(&home, &provider, &[]);
    for (input, expected) in [
        ("/persona", "There are no personas yet."),
        ("/persona use pirate", "there is no persona \"pirate\"."),
        ("/persona create pirate Speak like a pirate.", "Created the persona pirate."),
        ("/persona create pirate Again.", "the persona \"pirate\" already exists."),
        ("/persona create ../evil x", "\"../evil\" is not a valid persona name."),
        ("/persona show pirate", "Speak like a pirate."),
        ("/persona use pirate", "Using the persona pirate."),
        ("/persona list", "pirate (in use)"),
        ("Hello to you", "Arr."),
    ] {
        terminal.submit(input);
        terminal.wait_for(expected);
        terminal.wait_for_prompt();
    }
    assert!(provider.requests()[0].body.to_string().contains("Speak like a pirate."));
    home.memoir(["-p", "Once more"]).provider(&provider).succeed();
    assert!(
        provider.requests()[1].body.to_string().contains("Speak like a pirate."),
        "the persona stays in use"
    );
    terminal.submit("/persona delete pirate");
    terminal.wait_for("Deleted the persona pirate.");
    terminal.wait_for_prompt();
    terminal.submit("Hello again");
    terminal.wait_until("the second answer", |screen| screen.matches("Arr.").count() == 2);
    assert!(!provider.requests()[2].body.to_string().contains("Speak like a pirate."));
    terminal.submit("/exit");
    terminal.wait_for_exit();
}

#[test]
fn the_repl_searches_marks_and_exports_memory() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Noted, **all** of it."));
    let terminal = open(&home, &provider, &[]);
    for (input, shown) in [
        ("Anna's birthday cake has three layers.", "Noted, all of it."),
        ("/memory search Anna's birthday", "exchange 1"),
        ("/memory pin 1", "Pinned exchange 1."),
        ("/memory wrong 1", "Marked exchange 1 as wrong."),
        ("/memory show 1", "[1] you"),
        ("/memory release x", "\"x\" is not a valid N."),
        ("/export", "# Anna's birthday cake"),
        ("/export talk.md", "Exported 1 conversation to talk.md."),
        ("/export jsonl talk.jsonl", "Exported 1 conversation to talk.jsonl."),
    ] {
        terminal.submit(input);
        terminal.wait_for(shown);
        terminal.wait_for_prompt();
    }
    let read_file = |name: &str| fs::read_to_string(home.workspace().join(name)).unwrap();
    assert!(read_file("talk.md").contains("Noted, **all** of it."));
    assert!(read_file("talk.jsonl").starts_with("{\"kind\":\"memoir\",\"format\":1}\n"));
    // A file outside the project is attached only after confirmation; Ctrl-C cancels the prompt.
    fs::write(home.workspace().parent().unwrap().join("outside.txt"), "xylophone").unwrap();
    let before = provider.requests().len();
    terminal.submit("What does @../outside.txt say?");
    terminal.wait_for("is outside the project. Attach it?");
    terminal.type_keys("\x03");
    terminal.wait_for("Cancelled.");
    terminal.wait_for_prompt();
    assert_eq!(provider.requests().len(), before);
    terminal.submit("And what does @../outside.txt say?");
    terminal.wait_until("the second question", |screen| screen.matches("Attach it?").count() == 2);
    terminal.type_keys("n\r");
    provider.wait_for_requests(before + 1);
    assert!(!provider.requests()[before].body.to_string().contains("xylophone"));

    let output = home.memoir(["memory", "search", "birthday cake"]).succeed();
    assert!(output.contains("three layers"), "{output}");
    let list = |text: &str| home.memoir(["conversations", "list", "--matching", text]).succeed();
    assert!(list("BIRTHDAY").contains("Anna's birthday cake"));
    assert_eq!(list("nonsense"), "No conversations found.\n");
    let shown: Value =
        serde_json::from_str(&home.memoir(["conversations", "show", "1", "--json"]).succeed()).unwrap();
    assert_eq!(shown["exchanges"][0]["exchange"]["id"], 1);
}

#[test]
fn exchanges_of_orphaned_messages_are_restored() {
    let home = home();
    send_prompts(&home, &["Keep this in mind, please."]);
    home.edit_database(Edit::OrphanMessages);
    let output = home.memoir(["doctor"]).output();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout.contains("Run `/migrate-exchanges` to assign these messages to exchanges."), "{stdout}");
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let terminal = open(&home, &provider, &[]);
    terminal.submit("/migrate-exchanges");
    terminal.wait_for("Created 1 exchange from ungrouped messages.");
    terminal.wait_for_prompt();
    terminal.submit("/migrate-exchanges");
    terminal.wait_for("Every message belongs to an exchange.");
    assert!(home.memoir(["conversations", "show", "1"]).succeed().contains("Keep this in mind"));
}
