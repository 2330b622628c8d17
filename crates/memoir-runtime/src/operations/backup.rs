//! Copies of the whole memory, and restoring one.

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
    failure::Failure,
    files::{Partial, fresh_folder, private_folder},
    home::Home,
};

/// Name of the memory in a backup.
const DATABASE: &str = "memoir.db";

/// Directories next to the memory that belong to it: posts, and the histories of tasks.
const DIRECTORIES: [&str; 2] = ["posts", "conversations"];

/// How often progress is reported.
const INTERVAL: Duration = Duration::from_millis(100);

/// A backup to make.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BackupRequest {
    /// Directory to create; named after the time, in the current directory, if left out.
    pub folder: Option<PathBuf>,
}

/// A backup that was made and verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// Its directory.
    pub folder: PathBuf,
    /// Size of the memory in it, in bytes.
    pub bytes: u64,
}

/// Copies the memory, posts and histories of tasks to a new directory, and verifies the copy.
///
/// # Errors
///
/// Fails if the directory exists or cannot be created. An unfinished copy is removed.
pub async fn back_up(
    request: &BackupRequest,
    store: &dyn Upkeep,
    home: &Home,
    zone: &TimeZone,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<BackupReport, Failure> {
    let folder = match &request.folder {
        Some(folder) => folder.clone(),
        None => PathBuf::from(name_with_time("memoir-backup", zone)),
    };
    if folder.exists() {
        return Err(Failure::usage(format!("{} is there already", folder.display()))
            .hint("Name a folder that is not."));
    }
    // It gets its name only when it is complete, so that an unfinished copy is not taken for a backup.
    let failed = |error: io::Error| {
        Failure::failed(format!("{} cannot be written: {error}", folder.display()))
            .hint("Name another place.")
    };
    let partial = Partial::folder(&folder).map_err(failed)?;
    copy_memory(&partial.path().join(DATABASE), store, progress).await?;
    for name in DIRECTORIES {
        copy_directory(&home.data().join(name), &partial.path().join(name))?;
    }
    partial.finish(&folder).map_err(failed)?;
    let bytes = std::fs::metadata(folder.join(DATABASE)).map_or(0, |file| file.len());
    Ok(BackupReport { folder, bytes })
}

async fn copy_memory(
    copy: &Path,
    store: &dyn Upkeep,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), Failure> {
    let total = Some(store.size().await?);
    progress(Progress { unit: ProgressUnit::Bytes, done: 0, total });
    let watching = async {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let done = std::fs::metadata(copy).map_or(0, |file| file.len());
            progress(Progress { unit: ProgressUnit::Bytes, done, total });
        }
    };
    tokio::select! {
        copied = store.back_up(copy) => Ok(copied?),
        () = watching => Ok(()),
    }
}

/// A backup to restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreRequest {
    /// Its directory.
    pub folder: PathBuf,
}

/// A backup that was verified, and the memory that it would replace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifiedBackup {
    /// Directory of the backup.
    pub folder: PathBuf,
    /// The memory that restoring it replaces.
    pub replaces: PathBuf,
}

/// Verifies a backup before it is restored. Nothing is changed.
///
/// # Errors
///
/// Fails if the directory is not a backup, or if the backup is damaged.
pub async fn verify(request: &RestoreRequest, home: &Home) -> Result<VerifiedBackup, Failure> {
    let copy = request.folder.join(DATABASE);
    if !copy.is_file() {
        return Err(Failure::usage(format!("{} is no backup", request.folder.display()))
            .hint("Name a folder that memoir backup made."));
    }
    if let Some(fault) = database::verify(&copy, &home.database()).await?.first() {
        return Err(Failure::failed(format!("the backup is damaged: {fault}"))
            .hint("Nothing was changed. Try an older one."));
    }
    Ok(VerifiedBackup { folder: request.folder.clone(), replaces: home.database() })
}

/// A backup that was restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreReport {
    /// Directory that holds what was there before.
    pub previous: PathBuf,
}

/// Replaces the memory by a backup. What was there before is moved to a new directory next to it.
///
/// # Errors
///
/// Fails if another process has the memory open, or if a file cannot be moved or written.
pub async fn restore(
    backup: &VerifiedBackup,
    home: &Home,
    zone: &TimeZone,
) -> Result<RestoreReport, Failure> {
    private_folder(&home.data())?;
    let previous = fresh_folder(&home.data().join(name_with_time("before-restore", zone)))?;
    let copy = backup.folder.join(DATABASE);
    let restored = database::restore(&copy, &backup.replaces, &previous.join(DATABASE)).await;
    if let Err(error) = restored {
        if let Err(error) = std::fs::remove_dir(&previous) {
            tracing::debug!(%error, "an empty directory is left next to the memory");
        }
        return Err(match error {
            StoreError::Busy => Failure::failed("another program has this memory open")
                .hint("Close every memoir, the daemon too, and try again."),
            error => error.into(),
        });
    }
    for name in DIRECTORIES {
        let current = home.data().join(name);
        if current.exists() {
            std::fs::rename(&current, previous.join(name))?;
        }
        copy_directory(&backup.folder.join(name), &current)?;
    }
    Ok(RestoreReport { previous })
}

fn name_with_time(prefix: &str, zone: &TimeZone) -> String {
    let moment = SystemClock.now().minute_in(zone).replace(':', "").replace(' ', "-");
    format!("{prefix}-{moment}")
}

/// Copies a directory with everything in it. Does nothing if it does not exist.
fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    let entries = match std::fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    private_folder(to)?;
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
    async fn a_backup_is_restored_with_posts_and_the_previous_memory_is_set_aside() {
        let folder = tempfile::TempDir::new().unwrap();
        let home = Home::in_one(folder.path().join("home"));
        let (zone, now) = (TimeZone::UTC, SystemClock.now());
        let store = database::open(&home.database()).await.unwrap();
        store.set_setting("rag.limit", Some("3"), now).await.unwrap();
        std::fs::create_dir(home.posts()).unwrap();
        std::fs::write(home.posts().join("tea.md"), "Tea.").unwrap();
        let request = BackupRequest { folder: Some(folder.path().join("copy")) };
        let report = back_up(&request, store.as_ref(), &home, &zone, &mut |_| {}).await.unwrap();
        assert!(report.bytes > 0);
        assert!(back_up(&request, store.as_ref(), &home, &zone, &mut |_| {}).await.is_err(), "it exists");
        store.set_setting("rag.limit", Some("4"), now).await.unwrap();
        std::fs::write(home.posts().join("tea.md"), "Coffee.").unwrap();
        store.close().await;

        let backup = verify(&RestoreRequest { folder: report.folder }, &home).await.unwrap();
        assert_eq!(backup.replaces, home.database());
        let restored = restore(&backup, &home, &zone).await.unwrap();
        assert_eq!(std::fs::read_to_string(home.posts().join("tea.md")).unwrap(), "Tea.");
        assert_eq!(std::fs::read_to_string(restored.previous.join("posts/tea.md")).unwrap(), "Coffee.");
        let store = database::open(&home.database()).await.unwrap();
        assert_eq!(store.setting("rag.limit").await.unwrap().as_deref(), Some("3"));
        store.close().await;
    }

    #[tokio::test]
    async fn a_directory_without_a_memory_is_not_a_backup() {
        let folder = tempfile::TempDir::new().unwrap();
        let home = Home::in_one(folder.path().join("home"));
        let verified = verify(&RestoreRequest { folder: folder.path().to_owned() }, &home).await;
        assert_eq!(verified.err().map(|failure| failure.kind), Some(FailureKind::Usage));
    }
}
