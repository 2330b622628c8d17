//! Imports from other programs: their files, zip files and databases, named or found on this machine.

use std::{
    fs,
    path::{Path, PathBuf},
};

use memoir_testkit::{TestHome, database::create_database};

use crate::home;

fn import_crate() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../memoir-import")
}

fn dump(name: &str) -> String {
    fs::read_to_string(import_crate().join("tests/data").join(name)).unwrap()
}

/// Copies a file of `memoir-import` into the user's home directory and returns its path.
fn copy(home: &TestHome, source: &str, target: &str) -> String {
    let path = home.workspace().parent().unwrap().join(target);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(import_crate().join(source), &path).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Imports twice, and checks that a word from the history is found and that the second import adds nothing.
fn check_import(home: &TestHome, arguments: &[&str], word: &str) {
    let run = |extra: &[&str]| home.memoir([&["import"][..], arguments, extra].concat()).succeed();
    let dry = run(&["--dry-run"]);
    assert!(dry.starts_with("Would import "), "{arguments:?}: {dry}");
    let first = run(&[]);
    let count = home.messages().len();
    assert!(
        count > 0 && first.starts_with(&format!("Imported {count} messages in ")),
        "{arguments:?}: {first}"
    );
    let results = home.search(word);
    assert!(results.iter().any(|result| result.to_string().contains(word)), "{arguments:?}: {results:?}");
    let before = home.snapshot();
    let second = run(&[]);
    assert!(second.starts_with("Imported 0 messages in 0 conversations;"), "{arguments:?}: {second}");
    assert_eq!(home.snapshot(), before, "{arguments:?}");
}

#[test]
fn files_of_other_programs_are_imported_once() {
    for (format, source, target, word) in [
        ("aichat", "fixtures/aichat.yaml", "sessions/garden.yaml", "frost"),
        ("aichat", "fixtures/aichat_messages.md", "messages.md", "hostas"),
        ("gemini-cli", "fixtures/gemini_cli.jsonl", "chats/session-2026-03-02T09-00-7c1e5a90.jsonl", "lamp"),
        ("copilot", "fixtures/copilot.jsonl", "session-state/0b5e.jsonl", "milk"),
        ("copilot", "fixtures/copilot_old.json", "session_9c0d.json", "kale"),
        ("gemini", "fixtures/gemini.json", "MyActivity.json", "garlic"),
        ("open-webui", "fixtures/open_webui.json", "chat-export.json", "mulch"),
        ("opencode", "fixtures/opencode.json", "session.json", "degrees"),
    ] {
        let home = home();
        let file = copy(&home, source, target);
        check_import(&home, &[format, &file], word);
    }
}

#[test]
fn zip_files_are_imported_as_they_are_downloaded() {
    for (format, file, word) in [
        ("chatgpt", "chatgpt.zip", "Iron"),
        ("claude", "claude.zip", "April"),
        ("whatsapp", "WhatsApp Chat - Garten-Runde.zip", "Frost"),
        ("whatsapp", "WhatsApp Chat with Ana.zip", "bed"),
    ] {
        let home = home();
        let path = copy(&home, &format!("tests/data/{file}"), file);
        check_import(&home, &[format, &path], word);
    }
    let home = home();
    let chat = copy(&home, "tests/data/WhatsApp Chat - Garten-Runde.zip", "WhatsApp Chat - Garten-Runde.zip");
    home.memoir(["import", "whatsapp", &chat]).succeed();
    assert!(home.conversations().iter().any(|conversation| conversation.title == "Garten-Runde, 2023-12-31"));
    let stderr = home.memoir(["import", "chatgpt", &chat]).fail(1);
    assert!(stderr.contains("this zip file contains no ChatGPT conversations."), "{stderr}");
    let claude = copy(&home, "tests/data/claude.zip", "claude.zip");
    let stderr = home.memoir(["import", "chatgpt", &claude]).fail(1);
    assert!(stderr.contains("Run `memoir import claude` instead."), "{stderr}");
}

#[test]
fn the_text_of_a_claude_attachment_can_be_searched() {
    let home = home();
    let path = copy(&home, "fixtures/claude.json", "conversations.json");
    home.memoir(["import", "claude", &path]).succeed();
    let results = home.search("plants");
    assert!(results.iter().any(|result| result.to_string().contains("Four plants.")), "{results:?}");
}

#[test]
fn databases_are_found_and_imported_without_being_changed() {
    for (format, name, file, word) in [
        ("cursor", "cursor_global.sql", ".config/Cursor/User/globalStorage/state.vscdb", "flour"),
        ("llm", "llm.sql", ".config/io.datasette.llm/logs.db", "gauge"),
        ("opencode", "opencode.sql", ".local/share/opencode/opencode.db", "beans"),
    ] {
        let home = home();
        let path = home.workspace().parent().unwrap().join(file);
        create_database(&path, &dump(name));
        let before = fs::read(&path).unwrap();
        let list = home.memoir(["import", "found"]).succeed();
        assert!(
            list.contains("1 file from ") && list.contains(&format!("`memoir import {format}`")),
            "{list}"
        );
        check_import(&home, &[format], word);
        assert_eq!(fs::read(&path).unwrap(), before, "{format}");
    }
    let home = home();
    let path = home.workspace().join("webui.db");
    create_database(&path, &dump("open_webui.sql"));
    check_import(&home, &["open-webui", "webui.db"], "cups");
    let stderr = home.memoir(["import", "llm", "webui.db"]).fail(1);
    assert!(stderr.contains("this is not the logs.db of llm."), "{stderr}");
    let stderr = home.memoir(["import", "llm"]).fail(1);
    assert!(stderr.contains("no llm history was found on this machine."), "{stderr}");
}

#[test]
fn a_session_that_aichat_has_continued_is_extended() {
    let home = home();
    let file = copy(&home, "fixtures/aichat.yaml", ".config/aichat/sessions/garden.yaml");
    fs::write(
        Path::new(&file).with_file_name("../config.yaml"),
        "model: x\napi_key: blue-heron-77\nmessages: []\n",
    )
    .unwrap();
    check_import(&home, &["aichat"], "frost");
    let session = fs::read_to_string(&file).unwrap();
    let longer = session.replace("data_urls:", "- role: user\n  content: And the turnips?\ndata_urls:");
    fs::write(&file, longer).unwrap();
    let output = home.memoir(["import", "aichat"]).succeed();
    assert!(output.starts_with("Imported 1 message in 1 conversation;"), "{output}");
    assert!(home.files_containing("blue-heron-77").is_empty());
}

#[test]
fn sessions_of_gemini_cli_are_found_and_their_context_is_not_stored() {
    let home = home();
    let file = copy(
        &home,
        "fixtures/gemini_cli.jsonl",
        ".gemini/tmp/lighthouse/chats/session-2026-03-02T09-00-7c1e5a90.jsonl",
    );
    let project = Path::new(&file).ancestors().nth(2).unwrap().join(".project_root");
    fs::write(project, "/home/anna/lighthouse").unwrap();
    let list = home.memoir(["import", "found"]).succeed();
    assert!(list.contains("Gemini CLI") && list.contains("`memoir import gemini-cli`"), "{list}");
    check_import(&home, &["gemini-cli"], "lamp");
    let export = home.memoir(["export", "--format", "jsonl"]).succeed();
    assert!(export.contains("/home/anna/lighthouse"), "{export}");
    assert!(!export.contains("hook_context") && !export.contains("The keeper is Anna"), "{export}");
}
