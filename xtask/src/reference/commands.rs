//! `docs/commands.md`, from the declarations of the command line and of the slash commands.

use std::fmt::Write as _;

/// Returns the page.
pub(crate) fn page() -> String {
    let mut page =
        String::from("# Commands\n\nMade by `cargo xtask docs`; do not edit.\n\n## The command line\n");
    let mut program = memoir_cli::command_line().term_width(100);
    program.build();
    write_help(&mut page, &mut program);
    page.push_str("\n## In the REPL\n\nAny unique beginning of a name will do.\n\n");
    page.push_str("| command | what it does |\n| --- | --- |\n");
    for command in memoir_cli::slash_commands().get_subcommands() {
        write_rows(&mut page, command, &format!("/{}", command.get_name()));
    }
    page
}

/// Writes a row for a command, and one for each below it.
fn write_rows(page: &mut String, command: &clap::Command, path: &str) {
    let names = command.get_positionals().filter_map(|argument| argument.get_value_names()?.first());
    let arguments: String = names.map(|name| format!(" {}", name.replace('|', "\\|"))).collect();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = writeln!(page, "| `{path}{arguments}` | {about} |");
    for below in command.get_subcommands() {
        write_rows(page, below, &format!("{path} {}", below.get_name()));
    }
}

/// Writes the help of a command and of all below it.
fn write_help(page: &mut String, command: &mut clap::Command) {
    let rendered = command.render_long_help().to_string();
    let lines: Vec<&str> = rendered.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n```text\n{}\n```\n", lines.join("\n").trim_end());
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
        write_help(page, below);
    }
}
