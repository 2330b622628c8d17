//! Reference pages made from the program's own lists. `cargo xtask docs` writes them, CI compares them.

use std::fmt::Write as _;

use clap::CommandFactory as _;
use memoir_models::Catalogue;

use crate::{args::Args, commands, render};

/// `docs/commands.md`.
pub fn commands_reference() -> String {
    let mut page =
        String::from("# Commands\n\nMade by `cargo xtask docs`; do not edit.\n\n## The command line\n");
    let mut program = Args::command().term_width(100);
    program.build();
    help(&mut page, &mut program);
    page.push_str("\n## In the REPL\n\nAny unique beginning of a name will do.\n\n");
    page.push_str("| command | what it does |\n| --- | --- |\n");
    for command in commands::all().get_subcommands() {
        rows(&mut page, command, &format!("/{}", command.get_name()));
    }
    page
}

/// A row for a command, and one for each below it.
fn rows(page: &mut String, command: &clap::Command, path: &str) {
    let names = command.get_positionals().filter_map(|argument| argument.get_value_names()?.first());
    let arguments: String = names.map(|name| format!(" {}", name.replace('|', "\\|"))).collect();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    page.push_str(&format!("| `{path}{arguments}` | {about} |\n"));
    for below in command.get_subcommands() {
        rows(page, below, &format!("{path} {}", below.get_name()));
    }
}

/// The help of a command and of all below it.
fn help(page: &mut String, command: &mut clap::Command) {
    let rendered = command.render_long_help().to_string();
    let lines: Vec<&str> = rendered.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n```text\n{}\n```\n", lines.join("\n").trim_end());
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
        help(page, below);
    }
}

/// `docs/memoir.1`.
pub fn man_page() -> String {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(Args::command()).render(&mut page);
    String::from_utf8_lossy(&page).into_owned()
}

/// `docs/models.md`. An empty page if the catalogue cannot be read, which its own tests would report.
pub fn models_reference() -> String {
    Catalogue::built_in().map(|catalogue| render::model_reference::page(&catalogue)).unwrap_or_default()
}
