//! Files of the user's: private, and there whole or not at all, however their making ends.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Something that is being made under another name, and goes when it is dropped unfinished.
pub struct Partial {
    arriving: PathBuf,
    finished: bool,
}

impl Partial {
    fn beside(path: &Path) -> Self {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".part-{}", std::process::id()));
        Self { arriving: path.with_file_name(name), finished: false }
    }

    /// A file that only its owner reads.
    pub fn file(path: &Path) -> io::Result<(Self, File)> {
        let partial = Self::beside(path);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&partial.arriving)?;
        Ok((partial, file))
    }

    /// A folder that only its owner reads.
    pub fn folder(path: &Path) -> io::Result<Self> {
        let partial = Self::beside(path);
        private_folder(&partial.arriving)?;
        Ok(partial)
    }

    /// Where it is for now.
    pub fn path(&self) -> &Path {
        &self.arriving
    }

    /// It is whole, and gets its name.
    pub fn finish(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.arriving, path)?;
        self.finished = true;
        Ok(())
    }

    fn remove(&self) {
        let removed = match self.arriving.is_dir() {
            true => fs::remove_dir_all(&self.arriving),
            false => fs::remove_file(&self.arriving),
        };
        match removed {
            // It may never have been created.
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // Whatever failed before is reported. This only leaves a file under a name that nothing reads.
                tracing::debug!(%error, path = %self.arriving.display(), "a partial file was left behind");
            }
            _ => {}
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.finished {
            self.remove();
        }
    }
}

/// Makes a folder that only its owner reads.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    private().recursive(true).create(folder)
}

fn private() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes a folder that was not there: under this name, or with a number behind it.
pub fn fresh_folder(wanted: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let name = if number == 1 { String::new() } else { format!("-{number}") };
        let folder = PathBuf::from(format!("{}{name}", wanted.display()));
        match private().create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| folder),
        }
    }
}

/// Writes a file that only its owner reads.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// Returns a path as it is typed, with the user's home directory in place of `~`.
pub fn expand_home(typed: &str, user_home: Option<&Path>) -> PathBuf {
    match (typed.strip_prefix("~/"), user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(typed),
    }
}
