//! Permissions and the sandbox, tested through real turns: allowed and denied actions, and escapes that must
//! never get through.

use std::{fs, os::unix::fs::symlink};

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome, wait_until};
use serde_json::{Value, json};

use crate::home;

/// Runs a turn in which the model makes these calls in one reply, and returns their results.
pub(crate) fn calls(home: &TestHome, mode: &str, calls: &[(&str, Value)]) -> Vec<String> {
    let mut reply = Reply::text("");
    for (number, (name, arguments)) in calls.iter().enumerate() {
        reply = match number {
            0 => Reply::tool_call("c0", name, arguments),
            _ => reply.and_tool_call(&format!("c{number}"), name, arguments),
        };
    }
    let provider = ScriptedProvider::start([reply, Reply::text("Done.")]);
    // The default temporary directory contains the whole home, and commands may write there.
    let temporary = home.workspace().parent().unwrap().join("temporary");
    fs::create_dir_all(&temporary).unwrap();
    home.memoir(["-p", "do it", "--approval", mode, "--wait-servers", "all"])
        .provider(&provider)
        .env("SECRET_OF_MINE", "hunter2hunter2")
        .env("TMPDIR", &temporary)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .succeed();
    let messages = provider.requests()[1].body["messages"].clone();
    let results = messages.as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    results.map(|result| result["content"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn bash(home: &TestHome, mode: &str, command: &str) -> String {
    calls(home, mode, &[("execute_bash", json!({"command": command}))]).remove(0)
}

/// Creates a directory next to the workspace with a file that must not change.
pub(crate) fn outside(home: &TestHome) -> std::path::PathBuf {
    let outside = home.workspace().parent().unwrap().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("precious"), "precious").unwrap();
    outside
}

#[test]
fn without_rules_reading_is_allowed_and_changes_and_commands_are_not() {
    let home = home();
    fs::write(home.workspace().join("a.txt"), "alpha").unwrap();
    let attempts = [
        ("file_read", json!({"path": "a.txt"})),
        ("file_write", json!({"path": "b.txt", "content": "x"})),
        ("execute_bash", json!({"command": "touch c.txt"})),
        ("file_read", json!({"path": "/etc/hostname"})),
    ];
    let results = calls(&home, "ask", &attempts);
    assert_eq!(results[0], "alpha");
    assert!(results[1..].iter().all(|result| result.contains("the user cannot be asked")), "{results:?}");
    let results = calls(&home, "read-only", &attempts);
    assert!(results[1].contains("the approval mode is read-only"), "{results:?}");
    let results = calls(&home, "auto-edit", &attempts);
    assert!(
        results[1].starts_with("Wrote b.txt") && results[2].contains("the user cannot be asked"),
        "{results:?}"
    );
    assert!(!home.workspace().join("c.txt").exists());
    let stderr = home.memoir(["-p", "x", "--approval", "everything"]).fail(2);
    assert!(stderr.contains("The modes are read-only, ask, auto-edit, full."), "{stderr}");
}

#[test]
fn a_rule_allows_a_command_but_nothing_chained_to_it() {
    let home = home();
    outside(&home);
    home.write_config("[approval]\nallow = [\"execute_bash(echo ok)\", \"file_write(notes/**)\"]\ndeny = [\"file_delete\", \"execute_bash(touch)\"]\n");
    assert_eq!(bash(&home, "ask", "echo ok then"), "ok then\n");
    for command in [
        "echo ok; touch x",
        "echo ok && touch x",
        "echo ok $(touch x)",
        "echo ok `touch x`",
        "echo ok\ntouch x",
        "echo ok | tee x",
        "echo ok > x",
        "echo okay",
        "echo \"ok\" \"$(touch x)\"",
        "cat <(echo ok)",
        "echo ok &",
    ] {
        assert!(bash(&home, "ask", command).starts_with("error: not allowed"), "{command}");
    }
    let results = calls(
        &home,
        "ask",
        &[
            ("file_write", json!({"path": "notes/a.txt", "content": "x"})),
            ("file_write", json!({"path": "notes/../b.txt", "content": "x"})),
        ],
    );
    assert!(
        results[0].starts_with("Wrote notes/a.txt") && results[1].contains("the user cannot be asked"),
        "{results:?}"
    );
    // Deny rules apply in every mode.
    let results = calls(
        &home,
        "full",
        &[
            ("file_delete", json!({"path": "notes/a.txt"})),
            ("execute_bash", json!({"command": "true; touch x"})),
        ],
    );
    assert!(results.iter().all(|result| result.contains("forbids it")), "{results:?}");
    assert!(!home.workspace().join("x").exists() && home.workspace().join("notes/a.txt").exists());
}

#[test]
fn no_path_escapes_the_workspace() {
    let home = home();
    let outside = outside(&home);
    let work = home.workspace();
    symlink(&outside, work.join("link")).unwrap();
    symlink(outside.join("precious"), work.join("file-link")).unwrap();
    fs::hard_link(outside.join("precious"), work.join("hard")).unwrap();
    let absolute = outside.join("new").to_str().unwrap().to_owned();
    let write = |path: &str| ("file_write", json!({"path": path, "content": "x"}));
    let attempts = [
        write("../outside/new"),
        write("link/new"),
        write("file-link"),
        write(&absolute),
        write("/proc/self/root/tmp/new-of-memoir"),
        write("/proc/self/cwd/../outside/new"),
        ("file_delete", json!({"path": "../outside/precious"})),
        ("file_delete", json!({"path": "link/precious"})),
        ("file_move", json!({"from": "link/precious", "to": "mine"})),
        ("file_move", json!({"from": "hard", "to": "../outside/hard"})),
        ("file_copy", json!({"from": "file-link", "to": "mine"})),
        ("file_edit", json!({"path": "file-link", "operation": "append", "text": "x"})),
        ("dir_create", json!({"path": "link/deeper"})),
        ("dir_delete", json!({"path": "link", "recursive": true})),
        ("dir_list", json!({"path": ".."})),
        ("file_grep", json!({"pattern": "precious", "path": "link"})),
        ("file_glob", json!({"pattern": "*", "path": "/"})),
        ("file_tree", json!({"path": "link"})),
        ("file_stat", json!({"path": "file-link"})),
    ];
    for (result, attempt) in calls(&home, "full", &attempts).iter().zip(&attempts) {
        assert!(result.starts_with("error: "), "{attempt:?}: {result}");
    }
    // Editing a hard link does not change the file outside the workspace.
    calls(&home, "full", &[("file_edit", json!({"path": "hard", "operation": "append", "text": "changed"}))]);
    let entries: Vec<String> = fs::read_dir(&outside)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        (entries, fs::read_to_string(outside.join("precious")).unwrap()),
        (vec!["precious".to_owned()], "precious".to_owned())
    );
}

/// Returns whether the kernel supports Landlock, which the sandbox needs.
pub(crate) fn has_landlock() -> bool {
    fs::read_to_string("/sys/kernel/security/lsm").map_or(true, |names| names.contains("landlock"))
}

#[test]
fn commands_cannot_write_outside_the_workspace_or_read_keys() {
    let home = home();
    let outside = outside(&home);
    let outside_path = outside.display();
    assert_eq!(
        bash(
            &home,
            "full",
            "echo x > mine && cat mine && echo y > /dev/null && mktemp >/dev/null && echo done"
        ),
        "x\ndone\n"
    );
    let env = bash(
        &home,
        "full",
        "env; printenv OPENAI_API_KEY; bash -c 'echo $SECRET_OF_MINE'; cat /proc/self/environ | tr '\\0' '\\n'",
    );
    assert!(env.contains("PATH=") && !env.contains("hunter2") && !env.contains("OPENAI_API_KEY"), "{env}");
    if !has_landlock() {
        return;
    }
    for command in [
        format!("echo x > {outside_path}/new"),
        format!("rm -f {outside_path}/precious"),
        format!("mv {outside_path}/precious stolen"),
        format!("ln {outside_path}/precious hard"),
        format!("ln -s {outside_path} soft && echo x > soft/new"),
        format!("mkdir there && mount --bind {outside_path} there && echo x > there/new"),
        format!("unshare -rm sh -c 'mkdir -p b && mount --bind {outside_path} b && echo x > b/new'"),
        format!("echo x >> {outside_path}/precious"),
        format!("truncate -s 0 {outside_path}/precious"),
        format!("python3 -c \"open('{outside_path}/new', 'w')\""),
        format!("setsid sh -c 'echo x > {outside_path}/new'"),
        format!("echo x > /proc/self/root{outside_path}/new"),
    ] {
        bash(&home, "full", &command);
        let entries: Vec<_> =
            fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(entries, ["precious"], "{command}");
        assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "precious", "{command}");
    }
}

/// Returns whether a process has an argument. Commands do not know the numbers of their processes outside.
pub(crate) fn is_running(argument: &str) -> bool {
    let arguments = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let has_argument =
        |arguments: Vec<u8>| arguments.split(|byte| *byte == 0).any(|word| word == argument.as_bytes());
    arguments.into_iter().any(has_argument)
}

#[test]
fn child_processes_end_with_their_command() {
    let home = home();
    let (first, second) = (format!("{}311", std::process::id()), format!("{}312", std::process::id()));
    let command =
        format!("setsid sleep {first} >/dev/null 2>&1 & (sleep {second} & echo $!) ; sleep 0.2; echo over");
    assert!(bash(&home, "full", &command).ends_with("over\n"));
    for argument in [first, second] {
        // The process is killed immediately, and disappears when its parent has reaped it.
        wait_until(&format!("process {argument} has ended"), || !is_running(&argument));
    }
    let results = calls(&home, "full", &[("execute_bash", json!({"command": "sleep 313", "timeout": 1}))]);
    assert!(results[0].starts_with("Timed out after 1 s"), "{results:?}");
}

#[test]
fn the_user_is_shown_the_exact_command_and_asked() {
    let home = home();
    let call = |id: &str, command: &str| Reply::tool_call(id, "execute_bash", &json!({"command": command}));
    let provider = ScriptedProvider::start([
        call("c1", "echo one > one.txt"),
        Reply::text("First."),
        call("c2", "touch two.txt"),
        Reply::text("Second."),
        call("c3", "touch two.txt"),
        Reply::text("Third."),
        Reply::tool_call("c4", "file_write", &json!({"path": "three.txt", "content": "three\n"})),
        Reply::text("Fourth."),
    ]);
    let mut terminal = Terminal::open(&home, Some(&provider), (40, 120), &["--model", "gpt-5-mini"]);
    terminal.wait_for_prompt();
    let ask = |words: &str, wait: &str, key: &str, then: &str| {
        terminal.submit(words);
        if !wait.is_empty() {
            terminal.wait_for(wait);
            terminal.type_keys(&format!("{key}\r"));
        }
        terminal.wait_for(then);
        terminal.wait_for_prompt();
    };
    ask("one please", "execute_bash needs your approval:\n| echo one > one.txt", "n", "First.");
    assert!(!home.workspace().join("one.txt").exists());
    ask("two please", "a to always allow execute_bash(=touch two.txt) in this project", "a", "Second.");
    fs::remove_file(home.workspace().join("two.txt")).unwrap();
    ask("two again", "", "", "Third.");
    assert!(home.workspace().join("two.txt").exists(), "the approval is remembered");
    ask("three please", "+three", "y", "Fourth.");
    assert_eq!(fs::read_to_string(home.workspace().join("three.txt")).unwrap(), "three\n");
    terminal.submit("/approval");
    terminal.wait_for("1  allow execute_bash(=touch two.txt) in this project");
    terminal.submit("/approval revoke 1");
    terminal.wait_for("> /approval revoke 1");
    terminal.wait_for_prompt();
    terminal.submit("/approval deny execute_bash(git push)");
    terminal.wait_for("2  deny execute_bash(git push) in this project");
    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(home.count("approval_rules"), 1);
    let results = provider.requests()[1].body["messages"].to_string();
    assert!(results.contains("not allowed: the user denied it"), "{results}");
}
