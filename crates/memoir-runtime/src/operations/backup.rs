//! Backing up the database and the files next to it, and restoring a backup.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use memoir_core::{Clock as _, SystemClock, TimeZone};
use memoir_store::{StoreError, Upkeep};
use serde::{Deserialize, Serialize};

use super::{Progress, ProgressUnit, database};
use crate::{
    copies,
    failure::Failure,
    files::{Partial, create_private_directory, create_unique_directory},
    home::Home,
};

/// File name of the database in a backup.
pub(crate) const DATABASE: &str = "memoir.db";

/// Directories that are backed up with the database: posts and task histories.
const DIRECTORIES: [&str; 2] = ["posts", "conversations"];

const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Request to create a backup.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BackupRequest {
    /// Directory to create. Defaults to a name with the current time, in the current directory.
    #[serde(rename = "folder")]
    pub directory: Option<PathBuf>,
}

/// A backup that was created and verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// Directory of the backup.
    #[serde(rename = "folder")]
    pub directory: PathBuf,
    /// Size of the copied database in bytes.
    pub bytes: u64,
}

/// Copies the database, posts and task histories to a new directory, and verifies the copy.
///
/// # Errors
///
/// Fails if the directory already exists or cannot be created. An incomplete copy is removed.
pub async fn back_up(
    request: &BackupRequest,
    store: &dyn Upkeep,
    home: &Home,
    zone: &TimeZone,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<BackupReport, Failure> {
    let directory = match &request.directory {
        Some(directory) => directory.clone(),
        None => PathBuf::from(timestamped_name("memoir-backup", zone)),
    };
    if directory.exists() {
        return Err(Failure::usage(format!("{} already exists", directory.display()))
            .hint("Choose a directory that does not exist yet."));
    }
    let write_failure = |error: io::Error| {
        Failure::failed(format!("could not write {}: {error}", directory.display()))
            .hint("Choose another location.")
    };
    // The directory gets its final name once it is complete, so an incomplete copy is never mistaken for a backup.
    let partial = Partial::create_directory(&directory).map_err(write_failure)?;
    copy_database(&partial.path().join(DATABASE), store, progress).await?;
    for name in DIRECTORIES {
        copy_directory(&home.data().join(name), &partial.path().join(name))?;
    }
    partial.finish(&directory).map_err(write_failure)?;
    let bytes = std::fs::metadata(directory.join(DATABASE)).map_or(0, |file| file.len());
    Ok(BackupReport { directory, bytes })
}

async fn copy_database(
    copy: &Path,
    store: &dyn Upkeep,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), Failure> {
    let total = Some(store.size().await?);
    progress(Progress { unit: ProgressUnit::Bytes, done: 0, total });
    let report_progress = async {
        loop {
            tokio::time::sleep(PROGRESS_INTERVAL).await;
            let done = std::fs::metadata(copy).map_or(0, |file| file.len());
            progress(Progress { unit: ProgressUnit::Bytes, done, total });
        }
    };
    tokio::select! {
        result = store.back_up(copy) => Ok(result?),
        () = report_progress => Ok(()),
    }
}

/// Request to restore a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreRequest {
    /// Directory of the backup. Defaults to the newest daily backup.
    #[serde(rename = "folder")]
    pub directory: Option<PathBuf>,
}

/// A verified backup, and the database that it would replace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifiedBackup {
    /// Directory of the backup.
    #[serde(rename = "folder")]
    pub directory: PathBuf,
    /// Database that is replaced when the backup is restored.
    pub replaces: PathBuf,
}

/// Verifies a backup without changing anything.
///
/// # Errors
///
/// Fails if the directory is not a backup, or if the backup is damaged.
pub async fn verify(request: &RestoreRequest, home: &Home) -> Result<VerifiedBackup, Failure> {
    let newest = || copies::list(home).into_iter().next().map(|backup| backup.directory);
    let directory = request.directory.clone().or_else(newest).ok_or_else(|| {
        Failure::usage("there is no daily backup").hint("Specify a directory created by `memoir backup`.")
    })?;
    let copy = directory.join(DATABASE);
    if !copy.is_file() {
        return Err(Failure::usage(format!("{} is not a backup", directory.display()))
            .hint("Specify a directory created by `memoir backup`."));
    }
    if let Some(fault) = database::verify(&copy, &home.database()).await?.first() {
        return Err(Failure::failed(format!("the backup is damaged: {fault}"))
            .hint("Nothing was changed. Try another backup."));
    }
    Ok(VerifiedBackup { directory, replaces: home.database() })
}

/// Result of restoring a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreReport {
    /// Directory that now holds the previous database, posts and task histories.
    pub previous: PathBuf,
}

/// Replaces the database, posts and task histories with those of a backup. The previous ones are moved to a new
/// directory in the data directory.
///
/// # Errors
///
/// Fails if another process has the database open, or if a file cannot be moved or written.
pub async fn restore(
    backup: &VerifiedBackup,
    home: &Home,
    zone: &TimeZone,
) -> Result<RestoreReport, Failure> {
    create_private_directory(&home.data())?;
    let previous = create_unique_directory(&home.data().join(timestamped_name("before-restore", zone)))?;
    let copy = backup.directory.join(DATABASE);
    let result = database::restore(&copy, &backup.replaces, &previous.join(DATABASE)).await;
    if let Err(error) = result {
        if let Err(error) = std::fs::remove_dir(&previous) {
            tracing::debug!(%error, "could not remove an empty directory after a failed restore");
        }
        return Err(match error {
            StoreError::Busy => in_use(),
            error => error.into(),
        });
    }
    for name in DIRECTORIES {
        let current = home.data().join(name);
        if current.exists() {
            std::fs::rename(&current, previous.join(name))?;
        }
        copy_directory(&backup.directory.join(name), &current)?;
    }
    copies::set_later_aside(home, &backup.directory, &previous)?;
    Ok(RestoreReport { previous })
}

/// Returns the failure of an operation that replaces the database while a process has it open.
pub(super) fn in_use() -> Failure {
    Failure::failed("another process has the database open")
        .hint("Stop every running `memoir`, including the daemon, and try again.")
}

pub(super) fn timestamped_name(prefix: &str, zone: &TimeZone) -> String {
    let time = SystemClock.now().format_minute(zone).replace(':', "").replace(' ', "-");
    format!("{prefix}-{time}")
}

/// Copies a directory recursively. Does nothing if `from` does not exist.
fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    let entries = match std::fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    create_private_directory(to)?;
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::failure::FailureKind;

    #[tokio::test]
    async fn restoring_a_backup_includes_posts_and_keeps_the_previous_database() {
        let directory = tempfile::TempDir::new().unwrap();
        let home = Home::in_directory(directory.path().join("home"));
        let (zone, now) = (TimeZone::UTC, SystemClock.now());
        let store = database::open(&home.database()).await.unwrap();
        store.set_setting("rag.limit", Some("3"), now).await.unwrap();
        std::fs::create_dir(home.posts()).unwrap();
        std::fs::write(home.posts().join("tea.md"), "Tea.").unwrap();
        let request = BackupRequest { directory: Some(directory.path().join("copy")) };
        let report = back_up(&request, store.as_ref(), &home, &zone, &mut |_| {}).await.unwrap();
        assert!(report.bytes > 0);
        assert!(
            back_up(&request, store.as_ref(), &home, &zone, &mut |_| {}).await.is_err(),
            "the directory already exists"
        );
        store.set_setting("rag.limit", Some("4"), now).await.unwrap();
        std::fs::write(home.posts().join("tea.md"), "Coffee.").unwrap();
        store.close().await;

        let backup = verify(&RestoreRequest { directory: Some(report.directory) }, &home).await.unwrap();
        assert_eq!(backup.replaces, home.database());
        let report = restore(&backup, &home, &zone).await.unwrap();
        assert_eq!(std::fs::read_to_string(home.posts().join("tea.md")).unwrap(), "Tea.");
        assert_eq!(std::fs::read_to_string(report.previous.join("posts/tea.md")).unwrap(), "Coffee.");
        let store = database::open(&home.database()).await.unwrap();
        assert_eq!(store.setting("rag.limit").await.unwrap().as_deref(), Some("3"));
        store.close().await;
    }

    #[tokio::test]
    async fn backups_later_than_the_restored_one_are_set_aside() {
        let directory = tempfile::TempDir::new().unwrap();
        let home = Home::in_directory(directory.path());
        let store = database::open(&home.database()).await.unwrap();
        std::fs::create_dir(home.posts()).unwrap();
        std::fs::write(home.posts().join("tea.md"), "Tea.").unwrap();
        create_private_directory(&home.backups()).unwrap();
        for day in ["2026-11-14", "2026-11-15", "2026-11-16"] {
            let request = BackupRequest { directory: Some(home.backups().join(day)) };
            back_up(&request, store.as_ref(), &home, &TimeZone::UTC, &mut |_| {}).await.unwrap();
        }
        store.close().await;
        // Another spelling of the same path.
        let restored = Some(home.backups().join("../backups/2026-11-15"));
        let backup = verify(&RestoreRequest { directory: restored }, &home).await.unwrap();
        let report = restore(&backup, &home, &TimeZone::UTC).await.unwrap();
        let days: Vec<String> = copies::list(&home).iter().map(|backup| backup.day.to_string()).collect();
        assert_eq!(days, ["2026-11-15", "2026-11-14"]);
        assert!(report.previous.join("backup-2026-11-16/memoir.db").is_file());
        assert_eq!(std::fs::read_to_string(home.posts().join("tea.md")).unwrap(), "Tea.");
    }

    #[tokio::test]
    async fn a_directory_without_a_database_is_not_a_backup() {
        let directory = tempfile::TempDir::new().unwrap();
        let home = Home::in_directory(directory.path().join("home"));
        let result = verify(&RestoreRequest { directory: Some(directory.path().to_owned()) }, &home).await;
        assert_eq!(result.err().map(|failure| failure.kind), Some(FailureKind::Usage));
    }
}
