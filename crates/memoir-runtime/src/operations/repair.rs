//! Salvaging a damaged memory.

use std::path::PathBuf;

use memoir_core::TimeZone;
use memoir_store::{Salvage, StoreError};
use serde::Serialize;

use super::{backup, database};
use crate::{copies, failure::Failure, files::create_unique_directory, home::Home};

/// Result of repairing the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// What was salvaged and what is lost.
    #[serde(flatten)]
    pub salvage: Salvage,
    /// Directory that holds the memory as it was before.
    pub previous: PathBuf,
    /// The newest daily backup, which may contain what is lost.
    pub backup: Option<PathBuf>,
}

/// Replaces the memory with one that contains everything that can be read from it. The previous file is kept.
///
/// # Errors
///
/// Fails if there is no memory, if another process has it open, or if there is no space for a copy. A copy of the memory
/// that was made before the failure is kept.
pub async fn repair(home: &Home, zone: &TimeZone) -> Result<RepairReport, Failure> {
    let path = home.database();
    if !path.exists() {
        return Err(Failure::usage(format!("there is no memory at {}", path.display()))
            .hint("The first conversation creates it."));
    }
    let previous =
        create_unique_directory(&home.data().join(backup::timestamped_name("before-repair", zone)))?;
    match database::repair(&path, &previous.join(backup::DATABASE)).await {
        Ok(salvage) => {
            let backup = copies::list(home).into_iter().next().map(|backup| backup.directory);
            Ok(RepairReport { salvage, previous, backup })
        }
        Err(StoreError::Busy) => {
            if let Err(error) = std::fs::remove_dir_all(&previous) {
                tracing::debug!(%error, "could not remove the copy after a failed repair");
            }
            Err(backup::in_use())
        }
        // The copy is kept: it may be the only one with the last commits.
        Err(error) => Err(error.into()),
    }
}
