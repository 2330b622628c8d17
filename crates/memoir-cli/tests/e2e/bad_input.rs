//! Mistakes of a new user: each gives one clear sentence and the right exit code, and nothing is lost.

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};

use crate::{helpers::import_exchanges, home};

/// Checks that the up arrow restores a prompt that could not be answered.
fn assert_recalled_by_arrow(home: &TestHome, prompt: &str) {
    let terminal = Terminal::open(home, None, (24, 80), &["--model", "memoir/recall"]);
    terminal.wait_for_prompt();
    terminal.type_keys("\x1b[A");
    terminal.wait_for(&format!("> {prompt}"));
}

#[test]
fn a_file_that_is_not_a_database_is_left_unchanged() {
    let home = home();
    std::fs::create_dir(home.memoir_home()).unwrap();
    let notes = "my notes ".repeat(500);
    std::fs::write(home.database(), &notes).unwrap();
    let stderr = home.memoir(["-p", "hi"]).fail(1);
    assert!(
        stderr.contains("memoir.db is not a Memoir database. The file was not changed. Move it elsewhere"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert_eq!(std::fs::read_to_string(home.database()).unwrap(), notes);
}

#[test]
fn an_unwritable_directory_is_named() {
    let home = home();
    std::fs::write(home.memoir_home(), "a file where a directory should be").unwrap();
    let stderr = home.memoir(["-p", "hi"]).fail(1);
    assert!(stderr.contains("cannot write to ") && stderr.contains("MEMOIR_HOME"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn an_unknown_model_is_a_usage_error() {
    let stderr = home().memoir(["-p", "hi", "--model", "hal-9000"]).fail(2);
    assert!(stderr.contains("unknown model \"hal-9000\". Use "), "{stderr}");
}

#[test]
fn a_newer_database_is_left_unchanged() {
    let home = home();
    home.memoir(["-p", "hi"]).succeed();
    let mut bytes = std::fs::read(home.database()).unwrap();
    // The schema version is at offset 60 of the file header.
    bytes[60..64].copy_from_slice(&9999_u32.to_be_bytes());
    std::fs::write(home.database(), &bytes).unwrap();
    let stderr = home.memoir(["-p", "hi"]).fail(1);
    assert!(stderr.contains("written by a newer version of Memoir (schema 9999;"), "{stderr}");
    assert!(stderr.contains("Update Memoir"), "{stderr}");
    assert_eq!(std::fs::read(home.database()).unwrap(), bytes);
}

#[test]
fn failures_before_the_turn_are_json_too() {
    for arguments in [["--model", "hal-9000"], ["--model", "gpt-5"], ["-r", "99"]] {
        let mut all = vec!["-p", "hi", "--output-format", "json"];
        all.extend(arguments);
        let output = home().memoir(all).output();
        let error: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(error["type"], "error", "{arguments:?}");
    }
}

#[test]
fn an_invalid_url_is_a_usage_error() {
    let home = home();
    let run = home.memoir(["-p", "hi"]).env("OPENAI_BASE_URL", "nonsense").env("OPENAI_API_KEY", "k");
    let stderr = run.fail(2);
    assert!(stderr.contains("\"nonsense\" is not an address. Fix OPENAI_BASE_URL"), "{stderr}");
}

#[test]
fn a_config_mistake_is_reported_with_its_line() {
    let home = home();
    home.write_config("[chat]\nmodle = \"gpt-5\"\n");
    let stderr = home.memoir(["-p", "hi"]).fail(1);
    assert!(stderr.contains("config.toml is invalid: line 2: unknown field `modle`"), "{stderr}");
}

#[test]
fn a_config_mistake_does_not_keep_the_user_from_the_memory() {
    let home = home();
    let exchange = ("The gate code is 4471.".to_owned(), "Noted.".to_owned());
    import_exchanges(&home, "/house", "2026-01-05T10:00:00Z", &[exchange]);
    for (number, mistake) in
        ["[chat]\nmodle = \"gpt-5\"\n", "[chat", "[rag]\nnothing = 1\n", "\u{0}"].into_iter().enumerate()
    {
        home.write_config(mistake);
        let output = home.memoir(["export"]).output();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success() && stdout.contains("4471"), "{mistake}: {stderr}");
        home.memoir(["backup", &format!("backup-{number}")]).succeed();
        let doctor = home.memoir(["doctor"]).output();
        assert!(String::from_utf8(doctor.stdout).unwrap().contains("config"), "{mistake}");
    }
    home.write_config("[chat]\nmodle = \"gpt-5\"\n");
    let stderr = String::from_utf8(home.memoir(["export"]).output().stderr).unwrap();
    assert!(stderr.contains("config.toml is invalid: line 2"), "{stderr}");
}

#[test]
fn a_huge_prompt_is_refused_before_it_is_read() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Read.")]);
    let text = "word ".repeat(380_000);
    assert_eq!(home.memoir(["-p", "sum up"]).stdin(text).provider(&provider).succeed(), "Read.\n");
    for arguments in [&[][..], &["-p", "sum up"]] {
        // Not even its end is read, so it may be endless.
        let mut memoir = home.memoir(arguments).stdin("word ".repeat(10_000_000)).provider(&provider).spawn();
        assert_eq!(memoir.wait().unwrap().code(), Some(2));
        let stderr = std::io::read_to_string(memoir.stderr.take().unwrap()).unwrap();
        assert!(stderr.contains("the prompt is longer than 2 MB, so it was not sent. Store long texts with `memoir docs add FILE`"), "{stderr}");
    }
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn a_missing_key_is_reported() {
    let home = home();
    let stderr = home.memoir(["-p", "keep me", "--model", "gpt-5"]).fail(1);
    assert_eq!(
        stderr,
        "memoir: openai/gpt-5 needs an API key. Set OPENAI_API_KEY, or choose another model with \
         `memoir models set auto` or `--model memoir/recall`.\n"
    );
    assert_recalled_by_arrow(&home, "keep me");
    let stderr = home.memoir(["-p", "hi", "--model", "openai-compatible/llama"]).fail(1);
    assert!(stderr.contains("set OPENAI_BASE_URL"), "{stderr}");
}

#[test]
fn an_unreachable_server_is_named_and_the_prompt_can_be_restored() {
    let home = home();
    home.write_config("[calls]\nretry_first_wait_ms = 1\n");
    let unused_address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let run =
        home.memoir(["-p", "anyone there?"]).env("OPENAI_BASE_URL", format!("http://{unused_address}/v1"));
    let stderr = run.fail(1);
    assert!(
        stderr.contains(&format!("cannot reach the model's server at http://{unused_address}/v1/")),
        "{stderr}"
    );
    assert!(stderr.contains("Check the address and that the server is running"), "{stderr}");
    assert_recalled_by_arrow(&home, "anyone there?");
}

#[test]
fn a_rejected_key_is_reported() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::status(401, "Incorrect API key provided")]);
    let stderr = home.memoir(["-p", "hi"]).provider(&provider).fail(1);
    assert_eq!(
        stderr,
        "memoir: the server rejected the API key (status 401): Incorrect API key provided. Check the API key of this provider.\n"
    );
}

#[test]
fn text_that_is_not_utf_8_is_rejected() {
    let stderr = home().memoir([] as [&str; 0]).stdin(vec![b'a', 0xff, 0xfe]).fail(2);
    assert!(stderr.contains("not valid UTF-8. Convert it first"), "{stderr}");
}

#[test]
fn an_empty_prompt_is_rejected() {
    assert_eq!(home().memoir(["-p", " \n"]).fail(2), "memoir: the prompt is empty. Add a question.\n");
    assert_eq!(home().memoir([] as [&str; 0]).stdin(" \n").fail(2).lines().count(), 1);
}

#[test]
fn without_a_terminal_and_input_the_usage_is_shown_in_two_lines() {
    let stderr = home().memoir([] as [&str; 0]).stdin("").fail(2);
    assert_eq!(stderr.lines().count(), 2, "{stderr}");
    assert!(stderr.contains("memoir -p"), "{stderr}");
}

#[test]
fn a_missing_conversation_is_reported() {
    let stderr = home().memoir(["-r", "99", "-p", "hi"]).fail(1);
    assert!(stderr.contains("there is no conversation 99."), "{stderr}");
}

#[test]
fn an_unknown_option_is_a_usage_error() {
    assert!(home().memoir(["--frobnicate"]).fail(2).contains("--frobnicate"));
}
