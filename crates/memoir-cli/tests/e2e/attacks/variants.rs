//! Variants of the other attacks: encodings, links, nested commands and moments. Each one would change a file that it
//! must not change, or show one that it must not show.

use std::{fs, os::unix::fs::symlink, path::Path};

use memoir_testkit::{ScriptedProvider, TestHome};
use serde_json::{Value, json};

use super::commands::has_namespaces;
use crate::{
    confinement::{calls, has_landlock, outside},
    home,
};

/// What only the user may read or change.
const CANARY: &str = "the canary sings";

/// Files in the workspace that act later.
const PROTECTED: [&str; 5] =
    ["AGENTS.md", "CLAUDE.md", "scripts/hooks/pre-commit", "bare/config", ".git/hooks/pre-commit"];

/// Names that must not exist.
const ABSENT: [&str; 8] =
    [".envrc", ".mcp.json", ".claude", "sub/.git", "GEMINI.md", "HEAD", ".vscode", "copied"];

/// Creates a workspace with protected files, and links that lead out of it.
fn prepare() -> TestHome {
    let home = home();
    let (work, outside) = (home.workspace(), outside(&home));
    fs::write(outside.join("precious"), CANARY).unwrap();
    for directory in [".git/hooks", "scripts/hooks", "bare/objects", "sub", "empty"] {
        fs::create_dir_all(work.join(directory)).unwrap();
    }
    for name in PROTECTED.iter().filter(|name| **name != "CLAUDE.md") {
        fs::write(work.join(name), CANARY).unwrap();
    }
    fs::write(work.join("bare/HEAD"), "ref: refs/heads/main").unwrap();
    fs::write(work.join(".git/config"), "[core]\n\thooksPath = scripts/hooks\n").unwrap();
    fs::write(work.join("evil"), "evil").unwrap();
    for (target, link) in [
        ("AGENTS.md".as_ref(), "CLAUDE.md"),
        (outside.as_path(), "link"),
        (Path::new("link"), "chain"),
        (&outside.join("precious"), "file-link"),
        (&outside.join("new"), "dangling"),
        (Path::new("/proc/self/root"), "root"),
    ] {
        symlink(target, work.join(link)).unwrap();
    }
    home
}

/// Checks that everything is as it was.
fn assert_intact(home: &TestHome, variant: &str) {
    let (work, outside) = (home.workspace(), home.workspace().parent().unwrap().join("outside"));
    let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["precious"], "{variant}");
    for path in PROTECTED.map(|name| work.join(name)).into_iter().chain([outside.join("precious")]) {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{variant}: {path:?}: {error}"));
        assert_eq!(text, CANARY, "{variant}: {path:?}");
    }
    for name in ABSENT {
        assert!(work.join(name).symlink_metadata().is_err(), "{variant}: {name} exists");
    }
    assert!(work.join("CLAUDE.md").is_symlink(), "{variant}");
}

#[test]
fn variants_with_file_tools_change_and_show_nothing() {
    let home = prepare();
    let outside = home.workspace().parent().unwrap().join("outside").canonicalize().unwrap();
    let rooted = format!("root{}/precious", outside.display());
    let doubled = format!("//{}//precious", outside.display());
    let write = |path: &str| ("file_write", json!({"path": path, "content": "evil"}));
    let variants: Vec<(&str, Value)> = vec![
        // Spellings of a path outside the workspace.
        ("file_read", json!({"path": "../outside/precious"})),
        ("file_read", json!({"path": "empty/.././../outside/./precious"})),
        ("file_read", json!({"path": doubled})),
        ("file_read", json!({"path": rooted})),
        ("file_read", json!({"path": "/proc/self/cwd/../outside/precious"})),
        ("file_read", json!({"path": "/proc/thread-self/cwd/../outside/precious"})),
        ("file_read", json!({"path": "/dev/fd/../cwd/../outside/precious"})),
        ("file_read", json!({"path": "chain/precious"})),
        ("file_read", json!({"path": "file-link"})),
        ("file_grep", json!({"pattern": "sings", "path": "chain"})),
        ("file_grep", json!({"pattern": "sings", "path": "file-link"})),
        ("file_glob", json!({"pattern": "../outside/*"})),
        ("file_glob", json!({"pattern": "chain/**"})),
        ("dir_list", json!({"path": "link/."})),
        ("file_tree", json!({"path": "chain"})),
        ("file_copy", json!({"from": "file-link", "to": "copied"})),
        ("file_copy", json!({"from": "chain/precious", "to": "copied"})),
        // Writes that lead outside.
        write("link/new"),
        write("chain/../outside/new"),
        write("dangling"),
        write("file-link"),
        ("file_edit", json!({"path": "chain/precious", "operation": "append", "text": "evil"})),
        ("dir_create", json!({"path": "link/new"})),
        ("file_delete", json!({"path": "chain/precious"})),
        ("dir_delete", json!({"path": "link/", "recursive": true})),
        ("file_move", json!({"from": "link/precious", "to": "copied"})),
        ("file_move", json!({"from": "evil", "to": "link/new"})),
        // Files that act later.
        write("scripts/hooks/pre-commit"),
        write("scripts/../scripts/hooks/pre-commit"),
        write("bare/config"),
        write("bare/hooks/post-checkout"),
        write("sub/.git"),
        write("HEAD"),
        write(".Vscode/../.vscode/tasks.json"),
        write("CLAUDE.md"),
        ("file_copy", json!({"from": "evil", "to": "GEMINI.md"})),
        ("file_move", json!({"from": "evil", "to": "CLAUDE.md"})),
        ("file_move", json!({"from": "bare", "to": "sub/bare"})),
        ("dir_delete", json!({"path": "scripts", "recursive": true})),
        ("dir_delete", json!({"path": "bare", "recursive": true})),
    ];
    assert!(variants.len() >= 30);
    for (variant, result) in variants.iter().zip(calls(&home, "auto-edit", &variants)) {
        assert!(!result.contains(CANARY), "{variant:?}: {result}");
    }
    assert_intact(&home, "file tools");
}

#[test]
fn variants_with_commands_change_nothing() {
    let home = prepare();
    if !has_landlock() || !has_namespaces() {
        return;
    }
    let outside = home.workspace().parent().unwrap().join("outside").canonicalize().unwrap();
    let outside = outside.display();
    let encoded = "echo ZWNobyBldmlsID4gLi4vb3V0c2lkZS9uZXc7IGVjaG8gZXZpbCA+IC5lbnZyYwo= | base64 -d | bash";
    let variants = [
        // Files that act later, where there were none.
        "echo evil > .envrc; echo evil > .mcp.json; mkdir .claude .vscode".to_owned(),
        "ln -s evil .envrc; ln -s ../outside .vscode; ln evil GEMINI.md".into(),
        "printf 'ref: refs/heads/main' > HEAD; mkdir -p objects refs".into(),
        "(sleep 0.2; setsid sh -c 'echo evil > .envrc') & disown; echo evil > GEMINI.md; sleep 0.5".into(),
        "python3 -c \"import os; os.rename('evil', '.envrc'); os.symlink('/', '.claude')\"; cp .envrc evil"
            .into(),
        "sh -c \"sh -c 'echo evil > .envrc; touch .mcp.json'\" & wait".into(),
        // Links and existing ones.
        "rm CLAUDE.md; echo evil > CLAUDE.md".into(),
        "ln -sfn evil CLAUDE.md".into(),
        "mv evil evil2; cp evil2 evil; mv -f evil2 CLAUDE.md; rm CLAUDE.md".into(),
        "echo evil > CLAUDE.md; echo evil >> AGENTS.md; tee AGENTS.md < evil".into(),
        "echo evil > scripts/hooks/pre-commit; mv scripts gone; rm -rf scripts".into(),
        "echo evil > bare/config; rm -rf bare; mv bare gone; git --git-dir bare config core.fsmonitor ./evil"
            .into(),
        "git config core.hooksPath evil; sed -i s/scripts/evil/ .git/config; git init --bare .".into(),
        // Writes outside the workspace.
        encoded.into(),
        format!("echo evil > {outside}/new; cp evil {outside}/new; mv evil {outside}/"),
        format!("ln evil {outside}/new; ln -s evil {outside}/new; mkdir {outside}/new; mkfifo {outside}/new"),
        format!("rm -rf {outside}; truncate -s 0 {outside}/precious; dd if=evil of={outside}/precious"),
        format!("cd {outside} && echo evil > new; cd /proc/self/root{outside} && echo evil > precious"),
        format!("echo evil > /proc/$PPID/root{outside}/new; echo evil > /proc/1/cwd/../outside/new"),
        "echo evil > link/new; echo evil > dangling; echo evil > file-link; echo evil > root/tmp/../new"
            .into(),
        format!("unshare -Urm sh -c 'mount --bind {outside} sub; echo evil > sub/new'"),
        format!("python3 -c \"import os; os.chdir('{outside}'); open('new', 'w')\""),
        format!("perl -e 'rename \"evil\", \"{outside}/new\"; unlink \"{outside}/precious\"'"),
        format!("tar cf - evil | tar xf - -C {outside}; git clone -q bare {outside}/new"),
        format!("exec 9>{outside}/precious; echo evil >&9; exec 8<>{outside}/precious; echo evil >&8"),
    ];
    for variant in &variants {
        calls(&home, "full", &[("execute_bash", json!({"command": variant}))]);
        assert_intact(&home, variant);
        fs::write(home.workspace().join("evil"), "evil").unwrap();
    }
    let timed_out = json!({"command": "echo evil > .envrc; rm CLAUDE.md; sleep 60", "timeout": 1});
    let results = calls(&home, "full", &[("execute_bash", timed_out)]);
    assert!(results[0].starts_with("Timed out") && results[0].contains(".envrc was renamed"), "{results:?}");
    assert_intact(&home, "a command that times out");
}

#[test]
fn a_command_cannot_change_memoirs_own_files_in_the_workspace() {
    if !has_namespaces() {
        return;
    }
    let home = home();
    home.write_config("[rag]\ntoken_budget = 1300\n");
    let attack =
        "echo '[approval]' >> memoir/config.toml; echo x > memoir/new; rm -rf memoir; mv memoir gone";
    let replies = [
        memoir_testkit::Reply::tool_call("c1", "execute_bash", &json!({"command": attack})),
        memoir_testkit::Reply::text("Done."),
    ];
    let provider = ScriptedProvider::start(replies);
    let parent = home.workspace().parent().unwrap().to_owned();
    home.memoir(["-p", "go", "--approval", "full"]).provider(&provider).current_dir(parent).succeed();
    let config = fs::read_to_string(home.memoir_home().join("config.toml")).unwrap();
    assert_eq!(config, "[rag]\ntoken_budget = 1300\n");
    assert!(!home.memoir_home().join("new").exists() && home.database().exists());
}
