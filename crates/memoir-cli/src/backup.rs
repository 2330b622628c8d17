//! Runs `memoir backup`, `/backup`, `memoir restore` and `memoir repair`.

use std::path::Path;

use memoir_core::TimeZone;
use memoir_runtime::{
    Failure,
    home::Home,
    operations::{
        backup::{self, BackupRequest, RestoreRequest},
        repair,
    },
};
use memoir_store::Upkeep;

use crate::{
    args::RestoreArgs,
    progress::{ProgressBars, show_while},
    question,
    render::{self, print, print_report},
};

/// Backs up the memory to `directory`, or to a new directory named after the current time.
pub(crate) async fn back_up(
    directory: Option<&Path>,
    store: &dyn Upkeep,
    home: &Home,
    zone: &TimeZone,
) -> Result<(), Failure> {
    let request = BackupRequest { directory: directory.map(Path::to_owned) };
    let report = {
        let mut bars = ProgressBars::default();
        backup::back_up(&request, store, home, zone, &mut |progress| bars.show(progress)).await?
    };
    print(&render::backup::report(&report))
}

/// Verifies a backup and restores it after asking for confirmation.
pub(crate) async fn restore(arguments: &RestoreArgs, home: &Home, zone: &TimeZone) -> Result<(), Failure> {
    let request = RestoreRequest { directory: arguments.directory.clone() };
    let backup = show_while("verifying the backup", backup::verify(&request, home)).await?;
    print(&render::backup::plan(&backup))?;
    if !question::confirm("Restore the backup?", arguments.yes).await? {
        return Ok(());
    }
    let report = show_while("restoring", backup::restore(&backup, home, zone)).await?;
    print(&render::backup::restore_report(&report))
}

/// Replaces a damaged memory with what can be salvaged from it.
pub(crate) async fn repair(home: &Home, json: bool) -> Result<(), Failure> {
    let report = show_while("salvaging", repair::repair(home, &TimeZone::system())).await?;
    print_report(&report, json, render::backup::repair_report)
}
