//! Commands that do something else than what the user was asked.

use std::{net::TcpListener, process::Command};

use memoir_testkit::{Reply, ScriptedProvider, Terminal, wait_until};
use serde_json::json;

use crate::{
    confinement::{calls, has_landlock, is_running},
    home,
};

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
        "find . -maxdepth 0 -exec touch pwned ;",
        "sort -S 1k --comp=./evil a",
        "git log --ext-d",
        "sort CC=touch",
        "sort @pwned",
    ];
    let results = calls(&home, "ask", &attempts.map(command));
    for (attempt, result) in attempts.iter().zip(results) {
        assert!(result.contains("the user cannot be asked"), "{attempt}: {result}");
    }
    assert!(!work.join("pwned").exists());
    let harmless = calls(&home, "ask", &[command("git log --oneline -1 --stat")]);
    assert!(harmless[0].contains("first"), "{harmless:?}");
}

/// Returns whether the system allows the namespaces in which commands run.
pub(super) fn has_namespaces() -> bool {
    Command::new("unshare").args(["-Urmnpf", "true"]).status().is_ok_and(|status| status.success())
}

/// Returns whether the system confines signals and connections of commands: namespaces, and Linux 6.12 or newer with
/// Landlock.
fn confines_everything() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    has_namespaces() && has_landlock() && (numbers.next(), numbers.next()) >= (Some(6), Some(12))
}

#[test]
fn a_command_cannot_end_memoir_or_outlive_it() {
    let home = home();
    if !confines_everything() {
        return;
    }
    let survivor = "setsid setsid sh -c 'sleep 4; touch survived' >/dev/null 2>&1 &";
    let memoir = "$(awk '{print $4}' /proc/$PPID/stat)";
    for attack in [
        format!("{survivor} kill -9 $PPID; kill -9 {memoir}; echo alive"),
        format!("{survivor} kill -9 0; echo alive"),
        format!("{survivor} setsid sh -c \"kill -9 $PPID {memoir}\"; echo alive"),
        format!(
            "{survivor} python3 -c 'import os, signal; os.kill(os.getppid(), 9)'; kill -STOP $PPID {memoir}; echo alive"
        ),
    ] {
        // The turn ends normally, whatever happens to the command.
        calls(&home, "full", &[("execute_bash", json!({"command": attack}))]);
    }
    for attack in [
        "prlimit --pid $PPID --cpu=0:0; sleep 2",
        "for pid in /proc/[0-9]*; do prlimit --pid ${pid#/proc/} --nofile=3:3; done; sleep 1",
        "renice 19 $PPID",
    ] {
        calls(&home, "full", &[("execute_bash", json!({"command": format!("{survivor} {attack}")}))]);
    }
    std::thread::sleep(std::time::Duration::from_millis(4500));
    assert!(!home.workspace().join("survived").exists());
}

#[test]
fn a_command_ends_when_memoir_is_killed() {
    let home = home();
    let argument = format!("{}313", std::process::id());
    let command = format!("setsid setsid sh -c 'touch started; sleep {argument}' & sleep 300");
    let provider =
        ScriptedProvider::start([Reply::tool_call("c1", "execute_bash", &json!({"command": command}))]);
    let mut memoir = home.memoir(["-p", "go", "--approval", "full"]).provider(&provider).spawn();
    wait_until("the command runs", || is_running(&argument));
    memoir.kill().unwrap();
    memoir.wait().unwrap();
    wait_until("the command has ended", || !is_running(&argument));
}

#[test]
fn a_command_connects_to_nothing_without_approval() {
    let home = home();
    if !confines_everything() {
        return;
    }
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let port = server.local_addr().unwrap().port();
    home.write_config("[approval]\nallow = [\"execute_bash(bash)\"]\n");
    let python = format!("import socket; socket.create_connection(('127.0.0.1', {port})); print('open')");
    let listen = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print('open')";
    let attempts = [
        ("execute_bash", json!({"command": format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo open")})),
        (
            "execute_bash",
            json!({"command": format!("setsid bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo open'")}),
        ),
        ("execute_python", json!({"code": python})),
        ("execute_python", json!({"code": listen})),
        ("execute_python", json!({"code": python, "network": false})),
        // Multipath TCP and TCP Fast Open, which Landlock does not know.
        (
            "execute_python",
            json!({"code": format!("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect(('127.0.0.1', {port})); print('open')")}),
        ),
        (
            "execute_python",
            json!({"code": format!("import socket; s = socket.socket(); s.sendto(b'x', 0x20000000, ('127.0.0.1', {port})); print('open')")}),
        ),
        (
            "execute_python",
            json!({"code": format!("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', {port})); print('open')")}),
        ),
    ];
    for (attempt, result) in attempts.iter().zip(calls(&home, "full", &attempts)) {
        assert!(!result.starts_with("open"), "{attempt:?}: {result}");
    }
    assert!(server.accept().is_err(), "nothing has connected");
    let command = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    let refused = calls(&home, "ask", &[("execute_bash", json!({"command": command, "network": true}))]);
    assert!(
        refused[0].contains("the user cannot be asked"),
        "a rule for a command is not one for the network: {refused:?}"
    );
    assert!(server.accept().is_err(), "nothing has connected");
    let allowed = calls(&home, "full", &[("execute_python", json!({"code": python, "network": true}))]);
    assert_eq!(allowed, ["open\n"]);
}

#[test]
fn the_question_says_that_a_command_wants_the_network() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "execute_bash", &json!({"command": "true", "network": true})),
        Reply::text("Done."),
    ]);
    let mut terminal = Terminal::open(&home, Some(&provider), (40, 120), &["--model", "gpt-5-mini"]);
    terminal.wait_for_prompt();
    terminal.submit("go");
    let screen = terminal
        .wait_for("execute_bash needs your approval and access to the network:\n| true\nAllow? [y/N]: ");
    assert!(!screen.contains("always"), "{screen}");
    terminal.type_keys("n\r");
    terminal.wait_for("Done.");
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
}
