//! Files that exist only while they are needed: received ones, and those that are about to be sent.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    failure::Failure,
    files::{create_private_directory, write_private},
    home::Home,
    operations::tokens::random_text,
};

/// Maximum length of a name in bytes, as in most file systems.
const MAX_NAME_BYTES: usize = 255;

/// Age of a file that a process has left behind which was killed.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A private file. It is deleted with its directory when this is dropped.
pub struct TemporaryFile {
    directory: PathBuf,
    path: PathBuf,
}

impl TemporaryFile {
    /// Creates an empty file with this name in a directory of its own.
    ///
    /// # Errors
    ///
    /// Fails if the name is not that of a file, or if the data directory cannot be written.
    pub fn create(home: &Home, name: &str) -> Result<Self, Failure> {
        check_file_name(name)?;
        let parent = home.data().join("temporary");
        remove_leftovers(&parent);
        let directory = parent.join(random_text()?);
        create_private_directory(&directory)?;
        let path = directory.join(name);
        let file = Self { directory, path };
        write_private(&file.path, "")?;
        Ok(file)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.directory) {
            // The next temporary file after a day tries again.
            tracing::warn!(%error, "could not delete a temporary file");
        }
    }
}

/// Fails unless a text is the name of a file, without a directory.
pub(crate) fn check_file_name(name: &str) -> Result<(), Failure> {
    let is_name = Path::new(name).file_name().is_some_and(|file| file == name)
        && name.len() <= MAX_NAME_BYTES
        && !name.chars().any(|character| character.is_control() || character == '\\');
    match is_name {
        true => Ok(()),
        false => Err(Failure::usage("the name is not that of a file")
            .hint(format!("Give a name of up to {MAX_NAME_BYTES} bytes without a directory."))),
    }
}

fn remove_leftovers(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > MAX_AGE));
        if is_old && let Err(error) = fs::remove_dir_all(entry.path()) {
            tracing::debug!(%error, "could not delete a file that was left behind");
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn a_temporary_file_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::in_directory(directory.path());
        let file = TemporaryFile::create(&home, "conversations.json").unwrap();
        assert!(file.path().is_file());
        drop(file);
        assert_eq!(fs::read_dir(directory.path().join("temporary")).unwrap().count(), 0);
        for name in ["", ".", "..", "/etc/passwd", "../x", "a/b", "a\\b", "a\0b", "a\nb", &"x".repeat(300)] {
            assert!(TemporaryFile::create(&home, name).is_err(), "{name:?}");
        }
    }
}
