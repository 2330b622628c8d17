//! Completion in real shells, and the man pages.

use std::{fs, path::Path, process::Command};

use memoir_testkit::TestHome;

use crate::home;

/// Types a line and Tab in an interactive shell, and prints what the shell shows.
const TYPE_AND_TAB: &str = r#"
import os, pty, select, sys, time

shell, setup, line, wanted = sys.argv[1:5]
arguments = {'bash': ['bash', '--norc', '--noprofile', '-i'], 'zsh': ['zsh', '-f', '-i']}[shell]
process, terminal = pty.fork()
if process == 0:
    os.environ['TERM'] = 'dumb'
    os.execvp(shell, arguments)

def read_until(text):
    shown, end = '', time.time() + 60
    while text not in shown and time.time() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536).decode(errors='replace')
    return shown

os.write(terminal, f'{setup}; echo rea""dy\n'.encode())
read_until('ready')
time.sleep(0.3)
os.write(terminal, f'{line}\t'.encode())
print(read_until(wanted))
"#;

/// Writes the completion script of a shell and returns its path.
fn write_script(home: &TestHome, shell: &str) -> String {
    let script = home.workspace().join(format!("completions.{shell}"));
    fs::write(&script, home.memoir(["completions", shell]).succeed()).unwrap();
    script.to_str().unwrap().to_owned()
}

/// Runs a program that finds `memoir` in its path, and returns its output.
fn run(home: &TestHome, program: &str, arguments: &[&str]) -> String {
    let directory = Path::new(env!("CARGO_BIN_EXE_memoir")).parent().unwrap().display().to_string();
    let path = format!("{directory}:{}", std::env::var("PATH").unwrap());
    let output =
        Command::new(program).args(arguments).env("PATH", path).current_dir(home.workspace()).output();
    let output = output.unwrap_or_else(|error| panic!("{program} is needed: {error}"));
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn bash_and_zsh_complete_commands_options_and_values() {
    let home = home();
    for (shell, prepare) in [("bash", ""), ("zsh", "autoload -U compinit; compinit -u -D; ")] {
        let setup = format!("{prepare}source {}", write_script(&home, shell));
        for (line, completed) in [
            ("memoir sea", "memoir search"),
            ("memoir completions ba", "memoir completions bash"),
            ("memoir --output-format stre", "memoir --output-format stream-json"),
            ("memoir models set --for summ", "memoir models set --for summarizer"),
            ("memoir --approval read", "memoir --approval read-only"),
            ("memoir -m grok-code", "memoir -m grok-code-fast-1"),
            ("memoir config set terminal.st", "memoir config set terminal.status_line"),
        ] {
            let arguments = ["-c", TYPE_AND_TAB, shell, &setup, line, completed];
            let shown = run(&home, "python3", &arguments);
            assert!(shown.contains(completed), "{shell}: {shown:?}");
        }
    }
}

#[test]
fn fish_completes_commands_options_and_values() {
    let home = home();
    let script = write_script(&home, "fish");
    for (line, completed) in [
        ("memoir sea", "search"),
        ("memoir completions ba", "bash"),
        ("memoir --output-format stre", "stream-json"),
        ("memoir models set --for summ", "summarizer"),
        ("memoir schedule add --approval auto", "auto-edit"),
        ("memoir config set terminal.st", "terminal.status_line"),
    ] {
        let shown = run(&home, "fish", &["-c", &format!("source {script}; complete -C '{line}'")]);
        let has_value = |line: &str| line.split('\t').next() == Some(completed);
        assert!(shown.lines().any(has_value), "{line}: {shown:?}");
    }
}

#[test]
fn every_command_has_a_man_page_without_faults() {
    let home = home();
    let pages = home.workspace().join("man");
    fs::write(home.workspace().join("file"), "").unwrap();
    let failure = home.memoir(["completions", "man", "--directory", "file"]).fail(1);
    assert!(failure.contains("Choose another directory."), "{failure}");
    home.memoir(["completions", "man", "--directory", "man"]).succeed();
    let names: Vec<String> =
        fs::read_dir(&pages).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    for name in ["memoir.1", "memoir-search.1", "memoir-docs-add.1"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    for name in names {
        let faults = run(&home, "mandoc", &["-Tlint", pages.join(&name).to_str().unwrap()]);
        assert_eq!(faults, "", "{name}");
    }
}
