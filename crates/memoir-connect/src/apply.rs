//! Writes the files of a plan, or none of them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    error::ConnectError,
    plan::{ConnectionPlan, FileChange, PlanKind, read},
    records::Records,
    write::{StagedFile, create_parent_directories, resolve_links},
};

/// Writes the files of a plan and records how to go back.
///
/// Each file is replaced by a rename, so that no reader sees half of it. If one cannot be written, those that were
/// written before get their previous content.
///
/// # Errors
///
/// If a file no longer has the content that the plan was made for, or cannot be written.
pub fn apply(plan: &ConnectionPlan, records: &mut Records) -> Result<(), ConnectError> {
    let mut created_directories = Vec::new();
    let result = write_changes(&plan.changes, &mut created_directories);
    if result.is_err() {
        remove_empty_directories(&created_directories);
        return result;
    }
    match plan.kind {
        PlanKind::Connection => {
            for change in &plan.changes {
                records.add(change, &change.file.content);
            }
            records.directories.extend(created_directories);
        }
        PlanKind::Removal => {
            for path in &plan.obsolete_records {
                records.files.remove(path);
            }
            remove_recorded_directories(plan, records);
        }
    }
    Ok(())
}

/// Gives all files of a plan the content that they had before [`apply`], for a caller that could not save the records.
///
/// # Errors
///
/// If a file cannot be written.
pub fn revert(plan: &ConnectionPlan) -> Result<(), ConnectError> {
    plan.changes.iter().rev().try_for_each(roll_back)
}

/// Writes all files or none. Adds the directories that it creates, parents first.
fn write_changes(changes: &[FileChange], created: &mut Vec<PathBuf>) -> Result<(), ConnectError> {
    let mut staged = Vec::new();
    for change in changes {
        check_unchanged(change)?;
        staged.push(stage(change, created)?);
    }
    for (index, (change, file)) in changes.iter().zip(staged).enumerate() {
        let result = check_unchanged(change).and_then(|()| commit(change, file));
        if let Err(error) = result {
            changes[..index].iter().rev().try_for_each(roll_back)?;
            return Err(error);
        }
    }
    Ok(())
}

fn check_unchanged(change: &FileChange) -> Result<(), ConnectError> {
    let is_unchanged = match read(&change.path) {
        Ok(content) => content == change.before,
        Err(ConnectError::NotUtf8 { .. }) => false,
        Err(error) => return Err(error),
    };
    if is_unchanged { Ok(()) } else { Err(ConnectError::ChangedMeanwhile { path: change.path.clone() }) }
}

/// Writes the new content next to the file. Returns `None` if the file will be deleted.
fn stage(change: &FileChange, created: &mut Vec<PathBuf>) -> Result<Option<StagedFile>, ConnectError> {
    let Some(after) = &change.after else { return Ok(None) };
    let mut stage = || {
        let target = resolve_links(&change.path)?;
        create_parent_directories(&target, created)?;
        StagedFile::create(target, after, change.file.is_private)
    };
    stage().map(Some).map_err(|source| ConnectError::Write { path: change.path.clone(), source })
}

fn commit(change: &FileChange, staged: Option<StagedFile>) -> Result<(), ConnectError> {
    let result = match staged {
        Some(staged) => staged.commit(),
        None => remove_target(&change.path),
    };
    result.map_err(|source| ConnectError::Write { path: change.path.clone(), source })
}

/// Deletes a file, or the target of a symbolic link. Links were there before.
fn remove_target(path: &Path) -> io::Result<()> {
    fs::remove_file(resolve_links(path)?)
}

/// Gives a file its previous content.
fn roll_back(change: &FileChange) -> Result<(), ConnectError> {
    let restore = || match &change.before {
        Some(before) => {
            let target = resolve_links(&change.path)?;
            StagedFile::create(target, before, change.file.is_private)?.commit()
        }
        None => remove_target(&change.path),
    };
    restore().map_err(|source| ConnectError::Rollback { path: change.path.clone(), source })
}

/// Deletes the directories that connecting has created for the removed files, if nothing else is in them.
fn remove_recorded_directories(plan: &ConnectionPlan, records: &mut Records) {
    let mut removed: Vec<PathBuf> = plan.obsolete_records.clone();
    // The directories of a link's target may have been created, too.
    removed.extend(plan.obsolete_records.iter().filter_map(|path| resolve_links(path).ok()));
    let is_parent = |directory: &&PathBuf| removed.iter().any(|path| path.starts_with(directory));
    let candidates: Vec<PathBuf> = records.directories.iter().filter(is_parent).cloned().collect();
    remove_empty_directories(&candidates);
    records.directories.retain(|directory| directory.exists());
}

/// Deletes directories, which are ordered parents first. Leaves those that have content.
fn remove_empty_directories(directories: &[PathBuf]) {
    for directory in directories.iter().rev() {
        // A directory that has content, or is already deleted, needs nothing.
        let _: io::Result<()> = fs::remove_dir(directory);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::{
        content::{HostContent, HostFile},
        host::Host,
    };

    fn change(path: PathBuf, before: Option<&str>, after: Option<&str>) -> FileChange {
        let content = HostContent::Text(after.unwrap_or_default().to_owned());
        let file = HostFile { path: path.clone(), content, is_private: false };
        FileChange { path, before: before.map(str::to_owned), after: after.map(str::to_owned), file }
    }

    #[test]
    fn written_files_are_rolled_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("existing"), "old").unwrap();
        let changes = vec![
            change(path("existing"), Some("old"), Some("new")),
            change(path("a/b/created"), None, Some("new")),
            // Deleting a file that does not exist fails, after the others were written.
            change(path("missing"), None, None),
        ];
        let plan = ConnectionPlan {
            host: Host::Zed,
            kind: PlanKind::Connection,
            changes,
            notes: Vec::new(),
            obsolete_records: Vec::new(),
        };
        let mut records = Records::default();
        let error = apply(&plan, &mut records).unwrap_err();
        assert!(matches!(error, ConnectError::Write { .. }), "{error}");
        assert_eq!(fs::read_to_string(path("existing")).unwrap(), "old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        assert_eq!(records, Records::default());
    }
}
