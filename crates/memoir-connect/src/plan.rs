//! Computes the changes that connect or disconnect a host, without writing anything.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    content::{HostContent, HostFile, Prune},
    error::ConnectError,
    host::Host,
    hosts::{self, HostFiles},
    places::{ConfigLevel, MemoirCommand, Places},
    records::Records,
};

/// What a plan does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    /// Writes Memoir's content.
    Connection,
    /// Removes it.
    Removal,
}

/// The changes of some files.
#[derive(Debug, Clone)]
pub struct ConnectionPlan {
    /// The host.
    pub host: Host,
    /// What the plan does.
    pub kind: PlanKind,
    /// The files that change. Empty if there is nothing to do.
    pub changes: Vec<FileChange>,
    /// Sentences for the user about what the host cannot do, or about what is left to do. They are there even if
    /// nothing changes.
    pub notes: Vec<String>,
    /// Files whose records are no longer needed after a removal.
    pub(crate) obsolete_records: Vec<PathBuf>,
}

/// The change of one file.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// The file. It can be a symbolic link, whose target is then written.
    pub path: PathBuf,
    /// The current content, or `None` if the file does not exist.
    pub before: Option<String>,
    /// The new content, or `None` if the file will be deleted.
    pub after: Option<String>,
    pub(crate) file: HostFile,
}

impl FileChange {
    fn new(file: HostFile, before: Option<String>, after: Option<String>) -> Self {
        Self { path: file.path.clone(), before, after, file }
    }
}

/// Plans to connect a host, or to update a connection.
///
/// # Errors
///
/// If a file cannot be read or parsed, or has another type of value where Memoir's belongs.
pub fn plan_connection(
    host: Host,
    level: &ConfigLevel,
    places: &Places,
    program: &MemoirCommand,
) -> Result<ConnectionPlan, ConnectError> {
    let HostFiles { files, notes, .. } = hosts::files(host, level, places, program);
    let mut changes = Vec::new();
    for file in files {
        let before = read(&file.path)?;
        let after =
            file.content.insert_into(before.as_deref()).map_err(|error| error.for_path(file.path.clone()))?;
        if before.as_ref() != Some(&after) {
            changes.push(FileChange::new(file, before, Some(after)));
        }
    }
    Ok(ConnectionPlan { host, kind: PlanKind::Connection, changes, notes, obsolete_records: Vec::new() })
}

/// Plans to restore the content that the files had before connecting.
///
/// # Errors
///
/// If a file cannot be read, or has been edited and can no longer be parsed.
pub fn plan_removal(
    host: Host,
    level: &ConfigLevel,
    places: &Places,
    records: &Records,
) -> Result<ConnectionPlan, ConnectError> {
    // The program does not matter: Memoir's content is recognized by its keys.
    let program = MemoirCommand { path: "memoir".to_owned(), arguments: Vec::new() };
    let HostFiles { files, former, .. } = hosts::files(host, level, places, &program);
    let mut plan = ConnectionPlan {
        host,
        kind: PlanKind::Removal,
        changes: Vec::new(),
        notes: Vec::new(),
        obsolete_records: Vec::new(),
    };
    for file in files.into_iter().chain(former) {
        if let Some(other) = other_user(&file.path, host, level, places, records) {
            plan.notes.push(format!("{} stays because {} uses it.", file.path.display(), other.name()));
        } else {
            plan_file_removal(file, records, &mut plan)?;
        }
    }
    Ok(plan)
}

fn plan_file_removal(
    file: HostFile,
    records: &Records,
    plan: &mut ConnectionPlan,
) -> Result<(), ConnectError> {
    let record = records.files.get(&file.path);
    if record.is_some() {
        plan.obsolete_records.push(file.path.clone());
    }
    let Some(before) = read(&file.path)? else { return Ok(()) };
    let after = match record {
        Some(record) => record.restore(&file.content, &before),
        None => file.content.remove_from(&before, Prune::Emptied).map(|after| {
            let is_deleted = matches!(file.content, HostContent::Text(_)) && after.is_empty();
            (!is_deleted).then_some(after)
        }),
    };
    let after = after.map_err(|error| error.for_path(file.path.clone()))?;
    if after.as_ref() != Some(&before) {
        plan.changes.push(FileChange::new(file, Some(before), after));
    } else if matches!(file.content, HostContent::Text(_)) {
        let path = file.path.display();
        plan.notes.push(format!("{path} stays because it was edited: Delete it if you don't need it."));
    }
    Ok(())
}

/// Returns another connected host that uses a file.
fn other_user(
    path: &Path,
    host: Host,
    level: &ConfigLevel,
    places: &Places,
    records: &Records,
) -> Option<Host> {
    let program = MemoirCommand { path: String::new(), arguments: Vec::new() };
    Host::ALL.into_iter().filter(|other| *other != host).find(|other| {
        let HostFiles { files, former, .. } = hosts::files(*other, level, places, &program);
        let mut all_files = files.iter().chain(&former);
        files.iter().any(|file| is_same_file(&file.path, path))
            && all_files.any(|file| records.contains(&file.path) && !is_same_file(&file.path, path))
    })
}

/// Returns whether two paths lead to the same file. Some users link one directory of skills to another.
fn is_same_file(left: &Path, right: &Path) -> bool {
    let resolve = |path: &Path| fs::canonicalize(path).ok();
    left == right || resolve(left).is_some_and(|left| Some(left) == resolve(right))
}

/// Returns the content of a file, or `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, ConnectError> {
    match fs::read(path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| ConnectError::NotUtf8 { path: path.to_owned() })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ConnectError::Read { path: path.to_owned(), source }),
    }
}
