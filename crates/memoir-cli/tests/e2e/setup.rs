//! Settings, the doctor, shell completions, imports from other programs, and the demo.

use std::{fs, path::PathBuf};

use memoir_testkit::{Reply, ScriptedProvider, Terminal};
use serde_json::Value;

use crate::home;

#[test]
fn the_most_specific_config_layer_wins() {
    let home = home();
    let get = |key: &str| -> Value {
        serde_json::from_str(&home.memoir(["config", "get", key, "--json"]).succeed()).unwrap()
    };
    let check = |key: &str, value: &str, origin: &str| {
        let setting = get(key);
        let (actual_value, actual_origin) = (setting["value"].as_str(), setting["origin"].as_str());
        assert_eq!((actual_value, actual_origin), (Some(value), Some(origin)), "{key}");
    };
    check("rag.token_budget", "2000", "default");
    home.memoir(["config", "set", "rag.token_budget", "1500"]).succeed();
    check("rag.token_budget", "1500", "user");
    let terminal = Terminal::open(&home, None, (24, 80), &[]);
    terminal.wait_for_prompt();
    terminal.submit("/rag set token_budget 1200");
    terminal.wait_for("rag.token_budget is now 1200.");
    check("rag.token_budget", "1200", "program");
    home.memoir(["config", "set", "rag.token_budget", "900", "--project"]).succeed();
    check("rag.token_budget", "900", "project");
    terminal.wait_for_prompt();
    let output = home.memoir(["config", "set", "rag.token_budget", "1600"]).succeed();
    assert!(output.contains("The config file of this project overrides it"), "{output}");
    home.memoir(["config", "unset", "rag.token_budget", "--project"]).succeed();
    check("rag.token_budget", "1600", "user");
    home.memoir(["config", "unset", "rag.token_budget"]).succeed();
    check("rag.token_budget", "2000", "default");
    home.memoir(["config", "set", "chat.model", "gpt-5-mini"]).succeed();
    check("chat.model", "gpt-5-mini", "user");
    let value = home.memoir(["config", "get", "chat.model"]).env("MEMOIR_MODEL", "grok-3").succeed();
    assert_eq!(value, "grok-3\n");
    let paths = home.memoir(["config", "path"]).succeed();
    assert!(paths.contains("work/.memoir/config.toml") && paths.contains("memoir.db"), "{paths}");
    assert!(home.memoir(["config", "list"]).succeed().contains("context.budget_tokens"));
}

#[test]
fn invalid_settings_change_nothing() {
    let home = home();
    home.write_config("# mine\n[rag]\n# how much\ntoken_budget = 1500\n");
    let file = home.memoir_home().join("config.toml");
    let stderr = home.memoir(["config", "set", "rag.token_bugdet", "1"]).fail(2);
    assert!(
        stderr.contains("there is no setting \"rag.token_bugdet\". Did you mean rag.token_budget?"),
        "{stderr}"
    );
    let stderr = home.memoir(["config", "set", "rag.token_budget", "lots"]).fail(2);
    assert!(
        stderr.contains("rag.token_budget must be a number") && stderr.contains("Nothing was changed."),
        "{stderr}"
    );
    let stderr = home.memoir(["config", "set", "approval.mode", "ful"]).fail(2);
    assert!(stderr.contains("there is no approval mode \"ful\""), "{stderr}");
    let stderr = home.memoir(["config", "get", "frobnicate"]).fail(2);
    assert!(stderr.contains("Run `memoir config list` to see all settings."), "{stderr}");
    home.memoir(["config", "set", "rag.mode", "exact"]).succeed();
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# mine\n[rag]\n# how much\ntoken_budget = 1500\n"),
        "comments are preserved: {text}"
    );
    // A setting is removed under any of its names.
    fs::write(&file, "[rag]\nrag_token_budget = 900\n").unwrap();
    assert_eq!(home.memoir(["config", "get", "rag_token_budget"]).succeed(), "900\n");
    home.memoir(["config", "unset", "rag.token_budget"]).succeed();
    assert_eq!(home.memoir(["config", "get", "rag.token_budget"]).succeed(), "2000\n");
    // A project cannot redirect API keys.
    let stderr =
        home.memoir(["config", "set", "providers.openai.base_url", "http://evil", "--project"]).fail(2);
    assert!(stderr.contains("a project may not set providers.openai"), "{stderr}");
    fs::create_dir_all(home.workspace().join(".memoir")).unwrap();
    fs::write(home.workspace().join(".memoir/config.toml"), "[approval]\nmode = \"full\"\n").unwrap();
    let stderr = home.memoir(["-p", "hi"]).fail(1);
    assert!(stderr.contains("a project may not set approval.mode"), "{stderr}");
}

#[test]
fn the_doctor_reports_problems_and_never_shows_a_key() {
    let home = home();
    let stdout = home.memoir(["doctor"]).env("OPENAI_API_KEY", "sk-very-secret-key-1234567890").succeed();
    assert!(stdout.contains("set: OPENAI_API_KEY") && !stdout.contains("very-secret"), "{stdout}");
    assert!(stdout.contains("nothing is stored yet"), "{stdout}");
    assert!(stdout.contains("ok    log ") && stdout.contains("memoir.log (empty)"), "{stdout}");
    assert!(!home.database().exists(), "the doctor creates no database");
    home.memoir(["-p", "Remember the milk, and the long list of things to buy."]).succeed();
    let findings: Value = serde_json::from_str(&home.memoir(["doctor", "--json"]).succeed()).unwrap();
    let state = |what: &str| {
        let finding = findings.as_array().unwrap().iter().find(|finding| finding["what"] == what).unwrap();
        finding["state"].as_str().unwrap().to_owned()
    };
    assert_eq!((state("memory").as_str(), state("files").as_str()), ("good", "good"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(home.database(), fs::Permissions::from_mode(0o644)).unwrap();
        let output = home.memoir(["doctor"]).output();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains("BAD   files") && stdout.contains("chmod -R go="), "{stdout}");
        assert_eq!(output.status.code(), Some(1));
        fs::set_permissions(home.database(), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let unreachable =
        home.memoir(["doctor"]).env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1").env("OPENAI_API_KEY", "k");
    let stdout = String::from_utf8(unreachable.output().stdout).unwrap();
    assert!(stdout.contains("no server is listening at http://127.0.0.1:1/v1"), "{stdout}");
    home.write_config("[rga]\n");
    let stdout = String::from_utf8(home.memoir(["doctor"]).output().stdout).unwrap();
    assert!(stdout.contains("BAD   config") && stdout.contains("unknown field `rga`"), "{stdout}");
    fs::write(home.memoir_home().join("config.toml"), "").unwrap();
    fs::write(home.database(), "no database").unwrap();
    let stdout = String::from_utf8(home.memoir(["doctor"]).output().stdout).unwrap();
    assert!(stdout.contains("BAD   memory") && stdout.contains("is not a Memoir database"), "{stdout}");
}

#[test]
fn completions_and_the_man_page_are_generated() {
    let home = home();
    for (script, text) in [
        ("bash", "_memoir()"),
        ("zsh", "#compdef memoir"),
        ("fish", "--command memoir"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
        ("man", ".TH MEMOIR 1"),
    ] {
        assert!(home.memoir(["completions", script]).succeed().contains(text), "{script}");
    }
    assert!(!home.database().exists());
}

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../memoir-import/fixtures").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn histories_of_other_programs_are_imported_once() {
    for (format, file) in [
        ("chatgpt", "chatgpt.json"),
        ("claude", "claude.json"),
        ("claude-code", "claude_code.jsonl"),
        ("codex", "codex.jsonl"),
        ("codex", "codex_old.jsonl"),
        ("memoir", "memoir.jsonl"),
    ] {
        let home = home();
        let dry = home.memoir(["import", format, &fixture(file), "--dry-run"]).succeed();
        assert!(dry.starts_with("Would import "), "{dry}");
        let first = home.memoir(["import", format, &fixture(file)]).succeed();
        let count = home.messages().len();
        assert!(
            count > 0 && first.starts_with(&format!("Imported {count} messages in ")),
            "{format}: {first}"
        );
        let before = home.snapshot();
        let second = home.memoir(["import", format, &fixture(file)]).succeed();
        assert!(second.starts_with("Imported 0 messages in 0 conversations;"), "{format}: {second}");
        assert_eq!(home.snapshot(), before, "{format}");
    }
    let home = home();
    let stderr = home.memoir(["import", "claude", &fixture("chatgpt.json")]).fail(1);
    assert!(
        stderr.contains("It looks like a ChatGPT history. Run `memoir import chatgpt` instead."),
        "{stderr}"
    );
    let stderr = home.memoir(["import", "codex"]).fail(1);
    assert!(stderr.contains("no Codex sessions were found on this machine."), "{stderr}");
    let stderr = home.memoir(["import", "chatgpt", "nowhere.zip"]).fail(1);
    assert!(stderr.contains("Check that the file exists"), "{stderr}");
    fs::write(home.workspace().join("export.zip"), b"PK\x03\x04\xff\xfe").unwrap();
    let stderr = home.memoir(["import", "chatgpt", "export.zip"]).fail(1);
    assert!(stderr.contains("this zip file is damaged or encrypted. Download it again."), "{stderr}");
}

#[test]
fn the_first_start_offers_to_import_other_histories() {
    let home = home();
    let sessions = home.workspace().parent().unwrap().join(".claude/projects/p");
    fs::create_dir_all(&sessions).unwrap();
    fs::copy(fixture("claude_code.jsonl"), sessions.join("0b9f7c1e.jsonl")).unwrap();
    let provider = ScriptedProvider::always(Reply::text("Yes."));
    let terminal = Terminal::open(&home, Some(&provider), (24, 100), &[]);
    terminal.wait_for("Memory is empty. Your conversations will be remembered.");
    terminal.wait_for("2. import what was found here: 1 session from Claude Code");
    terminal.submit("2");
    terminal.wait_for("; 0 conversations were already imported.");
    terminal.wait_for_prompt();
    drop(terminal);
    let terminal = Terminal::open(&home, Some(&provider), (24, 100), &[]);
    let screen = terminal.wait_for_prompt();
    assert!(!screen.contains("Memory is empty"), "{screen}");
}

#[test]
fn a_first_choice_is_remembered_and_does_not_block_typing() {
    let home = home();
    let terminal = Terminal::open(&home, None, (40, 100), &[]);
    terminal.wait_for("3. connect a model");
    terminal.submit("3");
    terminal.wait_for("start Ollama, llama.cpp or LM Studio");
    terminal.submit("2");
    terminal.wait_for("`/import chatgpt FILE`");
    terminal.submit("Where is the key?");
    terminal.wait_for("Nothing in memory about this.");
    terminal.submit("1");
    terminal.wait_until("an answer", |screen| screen.matches("Nothing in memory about this.").count() == 2);
    drop(terminal);
    home.memoir(["memory", "forget", "--since", "2000-01-01", "--yes"]).succeed();
    let terminal = Terminal::open(&home, None, (40, 100), &[]);
    let screen = terminal.wait_for_prompt();
    assert!(screen.contains("Memory is empty") && !screen.contains("1. try a demo"), "{screen}");

    let home = crate::home();
    let terminal = Terminal::open(&home, None, (40, 100), &[]);
    terminal.submit("1");
    terminal.wait_for("Demo: a temporary memory");
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    terminal.wait_for("This is your own memory again.");
    terminal.submit("/info");
    terminal.wait_for("memoir.db");
}

#[test]
fn the_demo_answers_from_its_sample_and_leaves_nothing_behind() {
    let home = home();
    let answers = [
        "I slept over it four times and I don't want a second service to nurse in a cupboard.",
        "So the text has to come at 04:45, not at half past five any more.",
        "Amber against dark blue works for every common form of colour blindness",
    ];
    for (question, expected) in memoir_runtime::demo::QUESTIONS.iter().zip(answers) {
        let answer = home.memoir(["demo", question]).succeed();
        assert!(answer.starts_with(expected), "{question} {answer}");
    }
    assert!(!home.memoir_home().exists());
    let stderr = home.memoir(["demo"]).fail(2);
    assert!(stderr.contains("the demo needs a terminal or a question"), "{stderr}");
    let provider = ScriptedProvider::always(Reply::text("Because of the duty cycle."));
    let mut terminal = Terminal::open(&home, Some(&provider), (24, 100), &["demo"]);
    terminal.wait_for("three months of a made-up project");
    terminal.wait_for_prompt();
    terminal.submit("Why did we stop using SF12?");
    terminal.wait_for("Because of the duty cycle.");
    assert!(provider.requests()[0].body.to_string().contains("Related Past Conversations"));
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert!(!home.database().exists());
}

#[test]
fn questions_about_the_demo_history_find_their_conversations() {
    let home = home();
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let history = package.join("../memoir-runtime/demo/history.jsonl");
    home.memoir(["import", "memoir", history.to_str().unwrap()]).succeed();
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    let questions = fs::read_to_string(package.join("tests/e2e/demo_questions.json")).unwrap();
    let questions: Value = serde_json::from_str(&questions).unwrap();
    let (mut question_count, mut match_count) = (0, 0);
    for question in questions.as_array().unwrap().iter().filter(|question| !question["answer"].is_null()) {
        let text = question["question"].as_str().unwrap();
        let passages: Value =
            serde_json::from_str(&home.memoir(["search", text, "--json"]).succeed()).unwrap();
        let is_match = |passage: &Value| passage["conversation_id"] == question["conversation"];
        question_count += 1;
        match_count += usize::from(passages.as_array().unwrap().iter().any(is_match));
    }
    assert_eq!(question_count, 24);
    assert!(
        match_count >= 19,
        "{match_count} of {question_count} conversations were found; there were 20 when this was written"
    );
}

#[test]
fn the_reminder_to_connect_a_model_is_a_notice_and_appears_once() {
    const REMINDER: &str = "how to connect a model";
    let home = home();
    let output = home.memoir(["-p", "Where is the spare key?", "--output-format", "json"]).output();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(!stdout.contains(REMINDER) && stdout.contains("Nothing in memory about this."), "{stdout}");
    assert_eq!(stderr.matches(REMINDER).count(), 1, "{stderr}");

    let terminal = Terminal::open(&home, None, (40, 200), &[]);
    for question in ["Where is the other key?", "Where is the third key?"] {
        terminal.submit(question);
        terminal.wait_for_prompt();
    }
    let screen =
        terminal.wait_until("both answers", |screen| screen.matches("Nothing in memory").count() == 2);
    assert_eq!(screen.matches(REMINDER).count(), 1, "{screen}");
    terminal.submit("/history");
    let screen =
        terminal.wait_until("the history", |screen| screen.matches("Nothing in memory").count() >= 4);
    assert_eq!(screen.matches(REMINDER).count(), 1, "{screen}");
    assert!(!home.memoir(["export"]).succeed().contains(REMINDER));
    // A user who chose to answer from memory needs no reminder.
    let output = home.memoir(["-p", "Where is it?", "--model", "memoir/recall"]).output();
    assert!(!String::from_utf8(output.stderr).unwrap().contains(REMINDER));
}
