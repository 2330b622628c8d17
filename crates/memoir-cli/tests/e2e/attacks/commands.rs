//! Commands that do something else than what the user was asked.

use std::process::Command;

use serde_json::json;

use crate::{confinement::calls, home};

#[test]
fn python_does_not_import_modules_of_the_project() {
    let home = home();
    let module = "open('pwned', 'w').close()\ndef dumps(value): return 'fake'\n";
    for name in ["json.py", "sitecustomize.py", "usercustomize.py"] {
        std::fs::write(home.workspace().join(name), module).unwrap();
    }
    let code = "import json; print(json.dumps([1]))";
    let results = calls(&home, "full", &[("execute_python", json!({"code": code}))]);
    assert_eq!(results, ["[1]\n"]);
    assert!(!home.workspace().join("pwned").exists());
}

#[test]
fn an_allowed_command_does_not_allow_options_that_write_or_run() {
    let home = home();
    let work = home.workspace();
    let run = |arguments: &[&str]| {
        assert!(Command::new("git").args(arguments).current_dir(&work).output().unwrap().status.success());
    };
    run(&["init", "-q"]);
    run(&["-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "first"]);
    home.write_config(
        "[approval]\nallow = [\"execute_bash(git log)\", \"execute_bash(find)\", \"execute_bash(sort)\"]\n",
    );
    let command = |command: &str| ("execute_bash", json!({"command": command}));
    let attempts = [
        "git log --output=pwned",
        "git log --outpu=pwned",
        "git log '--output' pwned",
        "git log -1 --format=x --output=pwned -p",
        "find . -fprint pwned",
        "find . -maxdepth 0 -exec touch pwned '{}' +",
        "find . -maxdepth 0 -ok touch pwned",
        "sort a -o pwned",
        "sort -opwned a",
    ];
    let results = calls(&home, "ask", &attempts.map(command));
    for (attempt, result) in attempts.iter().zip(results) {
        assert!(result.contains("the user cannot be asked"), "{attempt}: {result}");
    }
    assert!(!work.join("pwned").exists());
    let harmless = calls(&home, "ask", &[command("git log --oneline -1 --stat")]);
    assert!(harmless[0].contains("first"), "{harmless:?}");
}
