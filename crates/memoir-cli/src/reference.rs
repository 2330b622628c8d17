//! Reference pages made from the program's own lists. `cargo xtask docs` writes them, CI compares them.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use crate::{args::Args, commands, environment};

/// `docs/commands.md`.
pub fn commands_reference() -> String {
    let mut page = String::from(
        "# Commands\n\nMade by `cargo xtask docs`; do not edit.\n\n## The command line\n\n```text\n",
    );
    page.push_str(
        Args::command()
            .term_width(100)
            .render_long_help()
            .to_string()
            .trim_end(),
    );
    page.push_str("\n```\n\n## In the REPL\n\nAny unique beginning of a name will do.\n\n| command | what it does |\n| --- | --- |\n");
    for command in commands::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| `{}` | {} |",
            commands::usage(*command),
            command.summary()
        );
    }
    page
}

/// `docs/environment.md`.
pub fn environment_reference() -> String {
    let mut page = String::from(
        "# Environment variables\n\nMade by `cargo xtask docs`; do not edit.\n\n| variable | what it does |\n| --- | --- |\n",
    );
    for variable in environment::ALL {
        let _ = writeln!(page, "| `{}` | {} |", variable.name, variable.meaning.trim());
    }
    page
}
