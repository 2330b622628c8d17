//! Files next to the database.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use super::open::open_private_file;

/// Returns a path with a suffix added to its file name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Suffixes of a database and of its log.
pub(super) const SUFFIXES: [&str; 2] = ["", "-wal"];

/// Copies a database and its log as they are.
pub(super) fn copy_with_log(from: &Path, to: &Path) -> io::Result<()> {
    for suffix in SUFFIXES {
        match copy_private(&with_suffix(from, suffix), &with_suffix(to, suffix)) {
            Err(error) if !suffix.is_empty() && error.kind() == io::ErrorKind::NotFound => {}
            result => result?,
        }
    }
    Ok(())
}

/// Copies a file. Only the owner can access the copy.
pub(super) fn copy_private(from: &Path, to: &Path) -> io::Result<()> {
    // A process that was killed leaves its copy behind.
    remove_derived_file(to);
    let mut source = fs::File::open(from)?;
    let mut file = open_private_file(to)?;
    io::copy(&mut source, &mut file)?;
    file.sync_all()
}

/// A private directory that is deleted on drop.
#[derive(Debug)]
pub(super) struct Scratch(pub PathBuf);

impl Scratch {
    /// Creates a directory in `parent`.
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("memoir-read-{}-{number}", std::process::id()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // A directory that exists may belong to someone else.
        builder.create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), "could not remove a copy of the memory");
        }
    }
}

/// Removes a file that is derived from the database, if it exists. A leftover file is ignored or overwritten later, so
/// a failure is only logged.
pub(super) fn remove_derived_file(path: &Path) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(path = %path.display(), %error, "could not remove a derived file; it will be overwritten");
        }
        _ => {}
    }
}
