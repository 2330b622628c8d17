//! `memoir connect`: lists the programs that can use this memory, connects them and disconnects them.

use std::path::Path;

use memoir_connect::{ConfigLevel, ConnectionPlan, PlanKind};
use memoir_runtime::{Failure, environment::Environment, home::Home, operations::connect::Connector};

use crate::{
    args::ConnectArgs,
    question::confirm,
    render::{self, print, print_raw, print_report},
};

pub(super) async fn run(
    arguments: ConnectArgs,
    home: &Home,
    project: &Path,
    environment: &Environment,
) -> Result<(), Failure> {
    let mut connector = Connector::new(home, environment)?;
    let Some(host) = arguments.host else {
        return print_report(&connector.list(), arguments.json, |hosts| render::connections::list(hosts));
    };
    let level = if arguments.project { ConfigLevel::Project(project.to_owned()) } else { ConfigLevel::User };
    let plan = match arguments.remove {
        true => connector.plan_removal(host, &level)?,
        false => connector.plan_connection(host, &level)?,
    };
    if plan.changes.is_empty() {
        let state = match plan.kind {
            PlanKind::Connection => "is already connected",
            PlanKind::Removal => "is not connected",
        };
        // Records of files that are as they were before are no longer needed.
        connector.apply(&plan)?;
        let mut lines = vec![format!("{} {state}. Nothing was changed.", host.name())];
        if plan.kind == PlanKind::Removal {
            lines.extend(plan.notes.iter().cloned());
        }
        return print(&lines.join("\n"));
    }
    print_raw(&render::connections::changes(&plan))?;
    if arguments.dry_run {
        return print("This was a dry run. Nothing was changed.");
    }
    if !confirm("Write these changes?", arguments.yes).await? {
        return Ok(());
    }
    connector.apply(&plan)?;
    print(&describe(&plan))
}

/// Returns what was done, and what the user still has to do.
fn describe(plan: &ConnectionPlan) -> String {
    let name = plan.host.name();
    match plan.kind {
        PlanKind::Connection => {
            let tag = plan.host.tag();
            let mut lines = vec![format!("Connected {name}. Restart it to use your memory.")];
            lines.extend(plan.notes.iter().cloned());
            lines.push(format!("Undo this with `memoir connect {tag} --remove`."));
            lines.join("\n")
        }
        PlanKind::Removal if plan.notes.is_empty() => {
            format!("Disconnected {name}. Its configuration is as it was before.")
        }
        PlanKind::Removal => {
            let mut lines = vec![format!("Disconnected {name}.")];
            lines.extend(plan.notes.iter().cloned());
            lines.join("\n")
        }
    }
}
