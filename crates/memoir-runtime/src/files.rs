//! Creates private files and directories. A partially written file never appears under its final name.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// A file or directory under a temporary name. It is deleted on drop unless [`Partial::finish`] was called.
pub struct Partial {
    temporary_path: PathBuf,
    is_finished: bool,
}

impl Partial {
    /// Chooses a temporary name in the same directory, so that renaming is atomic.
    fn next_to(path: &Path) -> Self {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".part-{}", std::process::id()));
        Self { temporary_path: path.with_file_name(name), is_finished: false }
    }

    /// Creates a file that only its owner can access, to become `path`.
    pub fn create_file(path: &Path) -> io::Result<(Self, File)> {
        let partial = Self::next_to(path);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&partial.temporary_path)?;
        Ok((partial, file))
    }

    /// Creates a directory that only its owner can access, to become `path`.
    pub fn create_directory(path: &Path) -> io::Result<Self> {
        let partial = Self::next_to(path);
        create_private_directory(&partial.temporary_path)?;
        Ok(partial)
    }

    /// Returns the temporary path.
    pub fn path(&self) -> &Path {
        &self.temporary_path
    }

    /// Renames the file or directory to its final path.
    pub fn finish(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.temporary_path, path)?;
        self.is_finished = true;
        Ok(())
    }

    fn remove(&self) {
        let result = match self.temporary_path.is_dir() {
            true => fs::remove_dir_all(&self.temporary_path),
            false => fs::remove_file(&self.temporary_path),
        };
        match result {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // The original failure is reported. A leftover file does no harm, because nothing reads this name.
                tracing::debug!(%error, path = %self.temporary_path.display(), "could not remove a partial file");
            }
            _ => {}
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_finished {
            self.remove();
        }
    }
}

/// Creates a directory and its parents, accessible to the owner only.
pub fn create_private_directory(directory: &Path) -> io::Result<()> {
    private_builder().recursive(true).create(directory)
}

fn private_builder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Creates a new private directory. If `path` exists, a number is appended. Returns the path of the directory.
pub fn create_unique_directory(path: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let directory = PathBuf::from(format!("{}{suffix}", path.display()));
        match private_builder().create(&directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            result => return result.map(|()| directory),
        }
    }
}

/// Writes a new file. Fails if it exists.
pub fn write_new(path: &Path, text: &str) -> io::Result<()> {
    io::Write::write_all(&mut File::create_new(path)?, text.as_bytes())
}

/// Writes a file. A new file is accessible to the owner only.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// Replaces a file in one step, so that it is complete whatever happens. It is accessible to the owner only.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        create_private_directory(directory)?;
    }
    let (partial, mut file) = Partial::create_file(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    partial.finish(path)?;
    // The name should survive a power failure, too, but the file is there.
    #[cfg(unix)]
    if let Some(directory) = path.parent()
        && let Err(error) = File::open(directory).and_then(|directory| directory.sync_all())
    {
        tracing::debug!(%error, "could not sync a directory");
    }
    Ok(())
}

/// Returns `path` with a leading `~` replaced by the user's home directory.
pub fn expand_home(path: &str, user_home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
