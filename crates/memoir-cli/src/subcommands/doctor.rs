//! `memoir doctor`: checks the installation and suggests fixes.

use std::{
    io::{IsTerminal as _, stdout},
    path::Path,
};

use memoir_runtime::{
    Failure,
    environment::Environment,
    home::Home,
    operations::doctor::{self, DoctorReport},
};

use crate::{
    render::{self, print_report},
    screen::terminal_size,
};

/// Runs all checks, including those of the terminal. Fails if a check fails.
pub(crate) async fn run(
    home: &Home,
    project: &Path,
    environment: &Environment,
    json: bool,
) -> Result<(), Failure> {
    let mut report = doctor::examine(home, project, environment).await;
    check_terminal(environment, &mut report);
    print_report(&report, json, render::doctor::report)?;
    match report.is_healthy() {
        true => Ok(()),
        false => {
            Err(Failure::failed("some checks failed").hint("Follow the advice below each line marked BAD."))
        }
    }
}

fn check_terminal(environment: &Environment, report: &mut DoctorReport) {
    if !stdout().is_terminal() {
        return report.add_good("terminal", "none (output is piped)");
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| environment.variable(name));
    let locale = locale.unwrap_or_default();
    let terminal = environment.variable("TERM").unwrap_or_default();
    let colors = if environment.variable("NO_COLOR").is_some() { "no colors (NO_COLOR)" } else { "colors" };
    let summary = format!("{terminal}, {} columns, {colors}", terminal_size().columns);
    let is_unicode = locale.to_lowercase().replace('-', "").contains("utf8");
    match (terminal, is_unicode) {
        ("" | "dumb", _) => report.add_note(
            "terminal",
            summary,
            "`TERM` describes a terminal with few capabilities. Set it to match your terminal.",
        ),
        (_, false) => report.add_note(
            "terminal",
            format!("{summary}, locale \"{locale}\""),
            "Set `LANG` to a UTF-8 locale, such as C.UTF-8.",
        ),
        _ => report.add_good("terminal", summary),
    }
}
