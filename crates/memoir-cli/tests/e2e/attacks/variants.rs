//! Variants of the other attacks: encodings, links, nested commands and moments. Each one would change a file that it
//! must not change, or show one that it must not show.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use memoir_testkit::{Reply, ScriptedProvider, TestHome, wait_until};
use serde_json::{Value, json};

use super::commands::has_namespaces;
use crate::{
    confinement::{calls, has_landlock, outside},
    home,
};

/// What only the user may read or change.
const CANARY: &str = "the canary sings";

/// Files in the workspace that act later.
const PROTECTED: [&str; 6] = [
    "AGENTS.md",
    "CLAUDE.md",
    "docs/guide.md",
    "scripts/hooks/pre-commit",
    "bare/config",
    ".git/hooks/pre-commit",
];

/// Undoes the read-only mounts with the system calls of root.
const UNMOUNT: &str = r#"python3 -c "
import ctypes, os
call = ctypes.CDLL(None).syscall
attributes = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
call(442, -100, b'AGENTS.md', 0, attributes, 32)
call(442, -100, b'.git', 0x8000, attributes, 32)
tree = call(428, -100, b'.', 1)
for path in ['AGENTS.md', '.git/hooks/pre-commit', f'/proc/self/fd/{tree}/AGENTS.md']:
    try:
        open(path, 'w').write('evil')
    except OSError:
        pass
""#;

/// Names that must not exist.
const ABSENT: [&str; 8] =
    [".envrc", ".mcp.json", ".claude", "sub/.git", "GEMINI.md", "HEAD", ".vscode", "copied"];

/// Creates a workspace with protected files, and links that lead out of it.
fn prepare() -> TestHome {
    let home = home();
    let (work, outside) = (home.workspace(), outside(&home));
    fs::write(outside.join("precious"), CANARY).unwrap();
    for repository in [&["init", "-q", "."][..], &["init", "-q", "--bare", "bare"]] {
        assert!(Command::new("git").args(repository).current_dir(&work).status().unwrap().success());
    }
    for directory in ["scripts/hooks", "sub", "empty", "docs", ".git/hooks"] {
        fs::create_dir_all(work.join(directory)).unwrap();
    }
    for name in PROTECTED.iter().filter(|name| **name != "CLAUDE.md") {
        fs::write(work.join(name), CANARY).unwrap();
    }
    fs::write(work.join(".git/config"), "[core] hooksPath = scripts/hooks ; ours\n").unwrap();
    fs::write(work.join("evil"), "evil").unwrap();
    for (target, link) in [
        ("AGENTS.md".as_ref(), "CLAUDE.md"),
        (Path::new("docs/guide.md"), "AGENTS.override.md"),
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
        write("AGENTS.override.md"),
        write("docs/guide.md"),
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
        "echo evil > docs/guide.md; mv docs gone; rm -rf docs; echo evil > AGENTS.override.md".into(),
        "chmod 0311 .; echo evil > .envrc; rm CLAUDE.md; echo evil > CLAUDE.md; chmod 555 .".into(),
        "chmod 0311 .; echo evil > AGENTS.md; echo evil > .git/hooks/pre-commit; chmod 755 .".into(),
        UNMOUNT.into(),
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

/// Runs a command in a directory, in which commands may write, and below which Memoir keeps its files.
fn run_in(home: &TestHome, directory: &Path, memoir_home: &Path, command: &str) {
    let call = Reply::tool_call("c1", "execute_bash", &json!({"command": command}));
    let provider = ScriptedProvider::start([call, Reply::text("Done.")]);
    home.memoir(["-p", "go", "--approval", "full"])
        .provider(&provider)
        .env("MEMOIR_HOME", memoir_home)
        .env("TMPDIR", home.workspace().parent().unwrap())
        .current_dir(directory)
        .succeed();
}

#[test]
fn a_command_cannot_change_memoirs_own_files_in_the_workspace() {
    if !has_namespaces() {
        return;
    }
    let home = home();
    let work = home.workspace();
    let own = work.join(".config/deep/memoir");
    fs::create_dir_all(&own).unwrap();
    let config = "[rag]\ntoken_budget = 1300\n";
    fs::write(own.join("config.toml"), config).unwrap();
    for attack in [
        "cd .config/deep; echo '[approval]' >> memoir/config.toml; echo x > memoir/new; rm -rf memoir; mv memoir gone",
        "mv .config gone && mkdir -p .config/deep/memoir && echo evil > .config/deep/memoir/config.toml",
        "cd .config; mv deep gone && mkdir -p deep/memoir && echo evil > deep/memoir/config.toml",
    ] {
        run_in(&home, &work, &own, attack);
        assert_eq!(fs::read_to_string(own.join("config.toml")).unwrap(), config, "{attack}");
        assert!(!own.join("new").exists() && own.join("memoir.db").exists(), "{attack}");
    }
}

#[test]
fn a_workspace_inside_memoirs_own_directory_is_writable_and_the_rest_is_not() {
    if !has_namespaces() {
        return;
    }
    let home = home();
    let own = home.workspace().join("memoir");
    let work = own.join("projects/site");
    fs::create_dir_all(&work).unwrap();
    fs::write(own.join("config.toml"), "[rag]\ntoken_budget = 1300\n").unwrap();
    for (target, link) in [(".", "loop"), ("projects/site", "current")] {
        symlink(target, own.join(link)).unwrap();
    }
    run_in(&home, &work, &own, "echo fine > page; echo evil >> ../../config.toml; rm -f ../../memoir.db");
    assert_eq!(fs::read_to_string(work.join("page")).unwrap(), "fine\n");
    assert!(!fs::read_to_string(own.join("config.toml")).unwrap().contains("evil"));
    assert!(own.join("memoir.db").exists());
}

#[test]
fn a_command_cannot_change_what_a_protected_link_leads_to_in_another_directory() {
    if !has_namespaces() {
        return;
    }
    let home = home();
    let shared = home.workspace().join("shared");
    let project = home.workspace().join("project");
    for directory in [&shared, &project] {
        fs::create_dir(directory).unwrap();
    }
    fs::write(shared.join("guide.md"), CANARY).unwrap();
    symlink("../shared/guide.md", project.join("CLAUDE.md")).unwrap();
    let attack = json!({"command": "echo fine > ../shared/other; echo evil > ../shared/guide.md"});
    let call = Reply::tool_call("c1", "execute_bash", &attack);
    let provider = ScriptedProvider::start([call, Reply::text("Done.")]);
    let arguments = ["-p", "go", "--approval", "full", "--add-dir", shared.to_str().unwrap()];
    home.memoir(arguments).provider(&provider).current_dir(&project).succeed();
    assert_eq!(fs::read_to_string(shared.join("other")).unwrap(), "fine\n");
    assert_eq!(fs::read_to_string(shared.join("guide.md")).unwrap(), CANARY);
}

#[test]
fn a_command_cannot_redirect_a_protected_link_through_another_link() {
    let home = home();
    let work = home.workspace();
    fs::write(work.join("guide.md"), CANARY).unwrap();
    for (target, link) in [("guide.md", "current"), ("current", "CLAUDE.md"), ("absent", "GEMINI.md")] {
        symlink(target, work.join(link)).unwrap();
    }
    let attack = json!({"command": "echo evil > evil.md; ln -sfn evil.md current; echo evil > absent"});
    calls(&home, "full", &[("execute_bash", attack)]);
    for name in ["CLAUDE.md", "GEMINI.md"] {
        assert!(!work.join(name).exists(), "{name}");
        assert!(work.join(format!("{name}.unapproved")).is_symlink(), "{name}");
    }
}

#[test]
fn a_command_cannot_replace_the_workspace_or_its_parents() {
    if !has_namespaces() {
        return;
    }
    let home = prepare();
    let deep = home.workspace().join("sub/project");
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("AGENTS.md"), CANARY).unwrap();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&deep).status().unwrap().success());
    for attack in [
        "cd ..; cp -a project new; mv project old; mv new project; echo evil > project/AGENTS.md",
        "cd ../..; cp -a sub new; mv sub old; mv new sub; echo evil > sub/project/AGENTS.md",
    ] {
        run_in(&home, &deep, &home.memoir_home(), attack);
        assert_eq!(fs::read_to_string(deep.join("AGENTS.md")).unwrap(), CANARY, "{attack}");
    }
    // A bare repository is protected as a whole, whatever the current directory.
    let bare = home.workspace().join("bare");
    run_in(
        &home,
        &bare,
        &home.memoir_home(),
        "echo evil > hooks/pre-receive; echo evil > config; cd ..; echo evil > bare/config",
    );
    assert!(!bare.join("hooks/pre-receive").exists());
    assert_eq!(fs::read_to_string(bare.join("config")).unwrap(), CANARY);
}

#[test]
fn what_a_command_created_is_renamed_if_memoir_is_terminated() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::HUP, rustix::process::Signal::KILL]
    {
        let home = home();
        let work = home.workspace();
        let command = json!({"command": "echo evil > .envrc; touch ready; sleep 60", "timeout": 60});
        let call = Reply::tool_call("c1", "execute_bash", &command);
        let provider = ScriptedProvider::start([call, Reply::text("Done.")]);
        let run = home.memoir(["-p", "go", "--approval", "full"]).provider(&provider);
        let mut child = run.spawn();
        wait_until("the command runs", || work.join("ready").exists());
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        wait_until("the file is renamed", || {
            !work.join(".envrc").exists() && work.join(".envrc.unapproved").exists()
        });
    }
}

#[test]
fn a_rule_that_allows_all_commands_does_not_allow_the_network() {
    let home = home();
    home.write_config("[approval]\nallow = [\"execute_bash\", \"execute_*\", \"*\"]\n");
    let results = calls(&home, "ask", &[("execute_bash", json!({"command": "true", "network": true}))]);
    assert!(results[0].contains("approval"), "{results:?}");
}
