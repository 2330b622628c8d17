//! `memoir connect`: the configuration of other programs.

use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use memoir_testkit::TestHome;
use serde_json::{Value, json};

use crate::{helpers::import_exchanges, home};

const HOSTS: [&str; 8] =
    ["claude-code", "codex", "gemini", "cursor", "opencode", "zed", "vscode", "windsurf"];

fn user_home(home: &TestHome) -> PathBuf {
    home.workspace().parent().unwrap().to_owned()
}

fn read(home: &TestHome, path: &str) -> String {
    fs::read_to_string(user_home(home).join(path)).unwrap()
}

fn write(home: &TestHome, path: &str, text: &str) {
    let path = user_home(home).join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the paths and contents of all files below the user's home, except Memoir's own.
fn snapshot(home: &TestHome) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut directories = vec![user_home(home)];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path == home.memoir_home() {
                continue;
            }
            if path.is_dir() {
                files.push((path.clone(), String::new()));
                directories.push(path);
            } else {
                files.push((path.clone(), fs::read_to_string(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn states(home: &TestHome) -> Vec<(String, String)> {
    let list: Vec<Value> = home.memoir(["connect", "--json"]).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    list.iter().map(|host| (text(&host["host"]), text(&host["state"]))).collect()
}

#[test]
fn every_program_is_connected_once_and_restored() {
    let home = home();
    write(&home, ".claude/settings.json", "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\"Stop\": []}\n}");
    write(&home, ".claude.json", "{\"numStartups\": 7, \"mcpServers\": {\"other\": {\"command\": \"x\"}}}\n");
    write(&home, ".codex/config.toml", "# mine\nmodel = \"gpt-5.6\" # fast\r\n");
    write(&home, ".config/zed/settings.json", "// Zed settings\n{\n  \"theme\": \"One\", // dark\n}\n");
    write(&home, ".config/opencode/opencode.json", "");
    let before = snapshot(&home);
    assert!(states(&home).iter().all(|(_, state)| state == "not-connected"), "{:?}", states(&home));
    for host in HOSTS {
        let dry = home.memoir(["connect", host, "--dry-run"]).succeed();
        assert!(dry.contains("mcp") && dry.contains("This was a dry run."), "{host}: {dry}");
        assert_eq!(snapshot(&home), before, "{host}");
    }
    for host in HOSTS {
        let refused = home.memoir(["connect", host]).fail(2);
        assert!(refused.contains("Add `--yes`."), "{refused}");
        let done = home.memoir(["connect", host, "--yes"]).succeed();
        assert!(done.contains(&format!("Undo this with `memoir connect {host} --remove`.")), "{done}");
        let connected = snapshot(&home);
        let again = home.memoir(["connect", host, "--yes"]).succeed();
        assert!(again.contains("is already connected. Nothing was changed."), "{again}");
        assert_eq!(snapshot(&home), connected, "{host}");
    }
    let expected: Vec<(String, String)> =
        HOSTS.iter().map(|host| ((*host).to_owned(), "connected".to_owned())).collect();
    assert_eq!(states(&home), expected);
    assert!(read(&home, ".config/zed/settings.json").contains("// dark"));
    assert!(read(&home, ".codex/config.toml").contains("[mcp_servers.memoir]"));
    for host in HOSTS {
        home.memoir(["connect", host, "--remove", "--yes"]).succeed();
    }
    assert_eq!(snapshot(&home), before);
}

#[test]
fn the_project_gets_files_of_its_own() {
    let home = home();
    home.memoir(["connect", "claude-code", "--project", "--yes"]).succeed();
    let servers: Value = serde_json::from_str(&read(&home, "work/.mcp.json")).unwrap();
    assert!(
        servers["mcpServers"]["memoir"]["args"]
            .as_array()
            .unwrap()
            .ends_with(&[json!("mcp"), json!("serve")])
    );
    assert!(!user_home(&home).join(".claude").exists());
    home.memoir(["connect", "claude-code", "--project", "--remove", "--yes"]).succeed();
    assert_eq!(fs::read_dir(home.workspace()).unwrap().count(), 0);
}

#[test]
fn broken_configs_are_left_untouched() {
    let home = home();
    for (host, path, text) in [
        ("claude-code", ".claude/settings.json", "{\"hooks\": "),
        ("codex", ".codex/config.toml", "model = \n"),
        ("gemini", ".gemini/settings.json", "{\"mcpServers\": []}"),
        ("zed", ".config/zed/settings.json", "[1, 2]"),
    ] {
        write(&home, path, text);
        let before = snapshot(&home);
        let message = home.memoir(["connect", host, "--yes"]).fail(1);
        let file = path.rsplit('/').next().unwrap();
        assert!(message.contains(file) && message.lines().count() == 1, "{host}: {message}");
        assert_eq!(snapshot(&home), before, "{host}");
    }
}

#[test]
fn what_is_written_works() {
    let home = home();
    let scope = home.workspace().canonicalize().unwrap().to_string_lossy().into_owned();
    let fact = "The staging server of the shop listens on port 8443.";
    import_exchanges(&home, &scope, "2026-05-01T10:00:00Z", &[(fact.into(), "Noted.".into())]);
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    for (host, path, event) in [
        ("claude-code", ".claude/settings.json", "UserPromptSubmit"),
        ("codex", ".codex/hooks.json", "UserPromptSubmit"),
        ("gemini", ".gemini/settings.json", "BeforeAgent"),
    ] {
        home.memoir(["connect", host, "--yes"]).succeed();
        let config: Value = serde_json::from_str(&read(&home, path)).unwrap();
        let command = config["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
        // The program's shell runs it without Memoir's variables.
        let mut hook = Command::new("sh")
            .args(["-c", command])
            .env_clear()
            .envs([
                ("PATH", std::env::var("PATH").unwrap()),
                ("HOME", user_home(&home).display().to_string()),
            ])
            .env("MEMOIR_HOOK_LIMIT_MS", "60000")
            .current_dir(home.workspace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = json!({
            "session_id": host, "cwd": scope, "hook_event_name": event,
            "prompt": "Which port does the staging server listen on?",
        });
        hook.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let output = hook.wait_with_output().unwrap();
        let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(reply["hookSpecificOutput"]["hookEventName"], event);
        assert!(reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains(fact), "{reply}");
    }
}
