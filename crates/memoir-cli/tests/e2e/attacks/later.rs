//! Writes that would run code or instruct an agent later.

use std::{fs, path::Path};

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};
use serde_json::json;

use super::commands::has_namespaces;
use crate::{
    confinement::{calls, has_landlock},
    home,
};

/// Files that make other programs run code, or instruct agents.
const FILES: [&str; 9] = [
    ".git/config",
    ".git/hooks/pre-commit",
    ".envrc",
    "AGENTS.md",
    "deep/CLAUDE.md",
    ".memoir/config.toml",
    ".memoir/skills/x/SKILL.md",
    ".vscode/tasks.json",
    "package.json",
];

fn create_files(directory: &Path) {
    for file in FILES {
        let file = directory.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        // A comment, because Memoir reads one of these files.
        fs::write(file, "# original").unwrap();
    }
}

fn assert_unchanged(directory: &Path, attack: &str) {
    for file in FILES {
        let text = fs::read_to_string(directory.join(file))
            .unwrap_or_else(|error| panic!("{attack}: {file}: {error}"));
        assert!(text.ends_with("original"), "{attack}: {file}: {text}");
    }
}

#[test]
fn tools_do_not_write_what_runs_later_without_asking_each_time() {
    let home = home();
    let work = home.workspace();
    create_files(&work);
    fs::create_dir(work.join("prepared")).unwrap();
    fs::write(work.join("prepared/evil"), "evil").unwrap();
    home.write_config("[approval]\nallow = [\"file_*\", \"dir_*\", \"file_write(**)\"]\n");
    for mode in ["auto-edit", "full"] {
        let mut attempts: Vec<(&str, serde_json::Value)> = FILES
            .iter()
            .flat_map(|file| {
                [
                    ("file_write", json!({"path": file, "content": "evil"})),
                    ("file_edit", json!({"path": file, "operation": "append", "text": "evil"})),
                    ("file_delete", json!({"path": file})),
                    ("file_move", json!({"from": file, "to": "elsewhere"})),
                ]
            })
            .collect();
        attempts.extend([
            ("file_move", json!({"from": ".git", "to": "gone"})),
            ("dir_delete", json!({"path": ".git", "recursive": true})),
            ("file_copy", json!({"from": "prepared/evil", "to": ".git/hooks/post-commit"})),
            ("file_move", json!({"from": "prepared", "to": "deep/.git"})),
            ("file_write", json!({"path": "new/.envrc", "content": "evil"})),
            ("file_write", json!({"path": "deep/../.GIT/config", "content": "evil"})),
            ("dir_create", json!({"path": ".claude/hooks"})),
            ("dir_delete", json!({"path": "deep", "recursive": true})),
            ("file_move", json!({"from": "deep", "to": "elsewhere"})),
        ]);
        for (attempt, result) in attempts.iter().zip(calls(&home, mode, &attempts)) {
            assert!(result.contains("the user is asked each time"), "{attempt:?}: {result}");
        }
        assert_unchanged(&work, mode);
        let ordinary = calls(&home, mode, &[("file_write", json!({"path": "src/main.rs", "content": "x"}))]);
        assert!(ordinary[0].starts_with("Wrote"), "{ordinary:?}");
    }
}

#[test]
fn commands_do_not_write_what_runs_later_without_asking_each_time() {
    let home = home();
    let work = home.workspace();
    create_files(&work);
    if !has_landlock() || !has_namespaces() {
        return;
    }
    for attack in [
        "for f in .git/config .envrc AGENTS.md package.json .vscode/tasks.json; do echo evil > $f; echo evil >> $f; done",
        "git config core.fsmonitor ./evil",
        "rm -rf .git .envrc .memoir AGENTS.md; mv .git gone; mv AGENTS.md gone",
        "echo evil > new; mv -f new AGENTS.md; ln -f new AGENTS.md; cp -f new .git/hooks/pre-commit",
        "umount .git; umount -l .git; mount -o remount,rw,bind .git; echo evil > .git/config",
        "unshare -Urm sh -c 'umount .git; mount -o remount,rw,bind .git; echo evil > .git/config'",
        "echo evil > /proc/self/root$PWD/.git/config; cd .git && echo evil > config",
        "nsenter -t $PPID -m -U sh -c \"echo evil > $PWD/.git/config\"",
        "python3 -c \"open('.git/config', 'w').write('evil')\"; truncate -s 0 .git/config",
        "for n in .Git .gIt .GIT .Envrc .Memoir .Husky; do ln -s /nonexistent $n; done",
        "for f in .git/config AGENTS.md .envrc .memoir/config.toml package.json; do echo evil >> $f; done",
    ] {
        calls(&home, "full", &[("execute_bash", json!({"command": attack}))]);
        // One that is not at the top of the project is protected from tools only.
        assert_unchanged(&work, attack);
    }
    let ordinary = calls(
        &home,
        "full",
        &[("execute_bash", json!({"command": "echo x > file && cat file .git/config"}))],
    );
    assert_eq!(ordinary, ["x\n# original"]);
}

/// Runs one command in the REPL, answers its question with yes, and ends.
fn approve(home: &TestHome, tool: &str, arguments: &serde_json::Value) {
    let provider = ScriptedProvider::start([Reply::tool_call("c1", tool, arguments), Reply::text("Done.")]);
    let mut terminal = Terminal::open(home, Some(&provider), (40, 120), &["--model", "gpt-5-mini"]);
    terminal.wait_for_prompt();
    terminal.submit("go");
    terminal.wait_for("Allow? [y/N]");
    terminal.type_keys("y\r");
    terminal.wait_for("Done.");
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn what_the_user_approves_is_written() {
    let home = home();
    let work = home.workspace();
    create_files(&work);
    approve(&home, "execute_bash", &json!({"command": "echo approved > .git/config"}));
    assert_eq!(fs::read_to_string(work.join(".git/config")).unwrap(), "approved\n");
    approve(&home, "file_write", &json!({"path": "AGENTS.md", "content": "approved"}));
    assert_eq!(fs::read_to_string(work.join("AGENTS.md")).unwrap(), "approved");
}

#[test]
fn a_repository_in_the_home_directory_does_not_make_it_the_workspace() {
    let home = home();
    let user = home.workspace().parent().unwrap().join("user");
    fs::create_dir_all(user.join(".git")).unwrap();
    fs::create_dir_all(user.join("repo/.git")).unwrap();
    fs::create_dir_all(user.join("repo/src")).unwrap();
    fs::create_dir_all(user.join("plain")).unwrap();
    fs::write(user.join("diary"), "my secret").unwrap();
    fs::write(user.join("repo/readme"), "hello").unwrap();
    let read = |directory: &str, path: &str| {
        let call = Reply::tool_call("c1", "file_read", &json!({"path": path}));
        let provider = ScriptedProvider::start([call, Reply::text("Done.")]);
        let run = home.memoir(["-p", "read"]).provider(&provider).env("HOME", &user);
        run.current_dir(user.join(directory)).succeed();
        provider.requests()[1].messages().last().unwrap().1.clone()
    };
    for (directory, path) in [("plain", "../diary"), ("plain", "diary"), ("repo/src", "../diary")] {
        let result = read(directory, path);
        assert!(!result.contains("my secret"), "{directory} {path}: {result}");
    }
    assert_eq!(read("repo/src", "readme"), "hello", "another repository is the workspace");
}

#[test]
fn a_workspace_other_than_the_current_directory_is_reported() {
    let home = home();
    let repository = home.workspace().parent().unwrap().canonicalize().unwrap();
    fs::create_dir(repository.join(".git")).unwrap();
    // By default, the home of tests is the parent of the workspace.
    let mut terminal = Terminal::open_with(&home, None, (40, 200), &[], &[("HOME", "/nowhere")]);
    terminal.wait_for(&format!("Workspace: {}, the repository that contains", repository.display()));
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
}
