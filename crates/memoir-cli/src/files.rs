//! Files and folders that are there whole or not at all, however their making ends.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Something that is being made under another name, and goes when it is dropped unfinished.
pub(crate) struct Partial {
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
    pub(crate) fn file(path: &Path) -> io::Result<(Self, File)> {
        let partial = Self::beside(path);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&partial.arriving)?;
        Ok((partial, file))
    }

    /// A folder that only its owner reads.
    pub(crate) fn folder(path: &Path) -> io::Result<Self> {
        let partial = Self::beside(path);
        private_folder(&partial.arriving)?;
        Ok(partial)
    }

    /// Where it is for now.
    pub(crate) fn path(&self) -> &Path {
        &self.arriving
    }

    /// It is whole, and gets its name.
    pub(crate) fn finish(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.arriving, path)?;
        self.finished = true;
        Ok(())
    }

    fn remove(&self) {
        // One of them is what it is, if anything.
        let _ = fs::remove_file(&self.arriving);
        let _ = fs::remove_dir_all(&self.arriving);
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
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}
