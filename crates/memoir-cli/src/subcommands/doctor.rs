//! `memoir doctor`.

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
    screen::screen_width,
};

/// Checks everything, the terminal included. Fails if something does not work.
pub(super) async fn run(
    home: &Home,
    project_file: &Path,
    environment: &Environment,
    json: bool,
) -> Result<(), Failure> {
    let mut report = doctor::examine(home, project_file, environment).await;
    check_terminal(environment, &mut report);
    print_report(&report, json, render::doctor::report)?;
    match report.is_healthy() {
        true => Ok(()),
        false => Err(Failure::failed("not everything is as it should be")
            .hint("What to do stands below each line marked BAD.")),
    }
}

fn check_terminal(environment: &Environment, report: &mut DoctorReport) {
    if !stdout().is_terminal() {
        return report.add_good("terminal", "none: output is piped");
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| environment.variable(name));
    let locale = locale.unwrap_or_default();
    let kind = environment.variable("TERM").unwrap_or_default();
    let colours =
        if environment.variable("NO_COLOR").is_some() { "no colours (NO_COLOR)" } else { "colours" };
    let said = format!("{kind}, {} columns, {colours}", screen_width());
    let is_unicode = locale.to_lowercase().replace('-', "").contains("utf8");
    match (kind, is_unicode) {
        ("" | "dumb", _) => report.add_note(
            "terminal",
            said,
            "TERM says that it can do little; set it to what your terminal is.",
        ),
        (_, false) => report.add_note(
            "terminal",
            format!("{said}, locale \"{locale}\""),
            "Set LANG to a UTF-8 locale, such as C.UTF-8.",
        ),
        _ => report.add_good("terminal", said),
    }
}
