//! Replaces files so that other programs see either the old or the new content.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// Maximum number of symbolic links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// Distinguishes the temporary files of this process.
static COUNTER: AtomicU32 = AtomicU32::new(0);

/// New content in a temporary file next to its target. Dropping it deletes the temporary file.
pub(crate) struct StagedFile {
    temporary: PathBuf,
    target: PathBuf,
    is_committed: bool,
}

impl StagedFile {
    /// Writes the temporary file, with the permissions of the target. If there is no target, `is_private` decides
    /// whether others may read the file.
    pub(crate) fn create(target: PathBuf, text: &str, is_private: bool) -> io::Result<Self> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = target.with_file_name(format!(".{name}.memoir-{}-{number}", process::id()));
        let permissions = match fs::metadata(&target) {
            Ok(metadata) => Some(metadata.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // Others must not read the content before it has its permissions.
        let mut file = open_new(&temporary, is_private || permissions.is_some())?;
        let staged = Self { temporary, target, is_committed: false };
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        Ok(staged)
    }

    /// Replaces the target.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.target)?;
        self.is_committed = true;
        Ok(())
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.is_committed {
            // The error that prevented the commit is reported. A leftover file does no harm.
            let _: io::Result<()> = fs::remove_file(&self.temporary);
        }
    }
}

fn open_new(path: &Path, is_private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_private { 0o600 } else { 0o644 });
    #[cfg(not(unix))]
    let _ = is_private; // Files inherit the permissions of their directory.
    options.open(path)
}

/// Returns the file that a path leads to, which may not exist.
pub(crate) fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let target = fs::read_link(&path)?;
                path = path.parent().map_or(target.clone(), |parent| parent.join(&target));
            }
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Creates the directories above a file. Adds those that did not exist, parents first.
pub(crate) fn create_parent_directories(path: &Path, created: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().skip(1).take_while(|parent| !parent.exists()).collect();
    for directory in missing.into_iter().rev().filter(|directory| !directory.as_os_str().is_empty()) {
        fs::create_dir(directory)?;
        created.push(directory.to_owned());
    }
    Ok(())
}
