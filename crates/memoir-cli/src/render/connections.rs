//! Formats the programs that can be connected, and the changes of their configuration.

use memoir_connect::{ConnectionPlan, FileChange};
use memoir_core::reveal_on_one_line;
use memoir_runtime::operations::connect::{ConnectionState, HostStatus};
use memoir_tools::diff;

use crate::repl::color_change;

/// Returns one line per program.
pub(crate) fn list(hosts: &[HostStatus]) -> String {
    let line = |status: &HostStatus| {
        let state = match &status.state {
            ConnectionState::Connected => "connected".to_owned(),
            ConnectionState::Outdated => {
                format!("partly connected; run `memoir connect {}` to update it", status.host)
            }
            ConnectionState::NotConnected if status.is_installed => {
                format!("installed; connect it with `memoir connect {}`", status.host)
            }
            ConnectionState::NotConnected => "not found on this machine".to_owned(),
            ConnectionState::Unreadable(reason) => reveal_on_one_line(reason).into_owned(),
        };
        format!("{:<12} {state}\n", status.name)
    };
    hosts.iter().map(line).collect()
}

/// Returns the changes of a plan as diffs.
pub(crate) fn changes(plan: &ConnectionPlan) -> String {
    let show = |change: &FileChange| {
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        let heading = match (before, after) {
            (None, _) => format!("New file {}", change.path.display()),
            (_, None) => format!("Delete {}", change.path.display()),
            _ => format!("Change {}", change.path.display()),
        };
        let diff =
            diff(&change.path.to_string_lossy(), before.unwrap_or_default(), after.unwrap_or_default());
        // The first two lines repeat the name of the file.
        let lines: String = diff.split_inclusive('\n').skip(2).collect();
        format!("{}\n{}\n", reveal_on_one_line(&heading), color_change(&lines).trim_end())
    };
    plan.changes.iter().map(show).collect::<Vec<_>>().join("\n")
}
