//! The log file: its content at each level, and its location.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider};

use crate::helpers::home;

const PROMPT: &str = "The combination of the bicycle lock is on the fridge.";

#[test]
fn retries_are_logged_at_their_level_without_the_prompt() {
    let home = home();
    let log = home.memoir_home().join("memoir.log");
    home.write_config("[calls]\nretry_first_wait_ms = 1\n");
    let ask = |level: &str| {
        let provider = ScriptedProvider::start([Reply::status(503, "busy"), Reply::text("Noted.")]);
        home.memoir(["-p", PROMPT]).provider(&provider).env("MEMOIR_LOG", level).succeed();
        fs::read_to_string(&log).unwrap_or_default()
    };
    assert_eq!(ask("off"), "");
    let warnings = ask("warn");
    assert!(
        warnings.contains("WARN memoir_providers") && !warnings.contains("a session started"),
        "{warnings}"
    );
    let all = ask("debug");
    assert!(all.contains("INFO memoir_runtime::session: a session started"), "{all}");
    assert!(!all.contains("bicycle"), "prompts are logged only at level trace: {all}");
    // The doctor exits with 1, because a test's home is readable by other users.
    let report = home.memoir(["doctor", "--json"]).env("MEMOIR_LOG", "off").output();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains(log.to_str().unwrap()), "{report}");
}

#[test]
fn incognito_prompts_are_not_logged() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Noted.")]);
    let run = home.memoir(["--incognito", "-vvvv", "-p", PROMPT]).provider(&provider);
    run.env("MEMOIR_LOG", "trace").succeed();
    let log = fs::read_to_string(home.memoir_home().join("memoir.log")).unwrap();
    assert!(log.contains("a session started") && !log.contains("bicycle"), "{log}");
}

#[test]
fn an_unknown_level_is_rejected() {
    let stderr = home().memoir(["-p", PROMPT]).env("MEMOIR_LOG", "loud").fail(2);
    assert!(
        stderr.contains(
            "MEMOIR_LOG is \"loud\", which is not a log level. Use off, error, warn, info, debug or trace."
        ),
        "{stderr}"
    );
}
