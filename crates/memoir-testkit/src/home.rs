//! Temporary homes in which the real binary runs.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::ProgramRun;

/// A home directory with a workspace, which is deleted when it is dropped, and the binary to run there.
///
/// A test arranges and acts with [`TestHome::memoir`], and reads the stored data with [`TestHome::exchanges`],
/// [`TestHome::messages`], [`TestHome::costs`] and similar methods, which run the program again and parse its JSON.
pub struct TestHome {
    directory: TempDir,
    binary: PathBuf,
    #[cfg(target_os = "linux")]
    bad_disk: std::sync::OnceLock<PathBuf>,
}

impl TestHome {
    /// Creates an empty home for `binary`.
    pub fn new(binary: impl AsRef<Path>) -> Self {
        let directory = TempDir::new().unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        Self {
            directory,
            binary: binary.as_ref().to_owned(),
            #[cfg(target_os = "linux")]
            bad_disk: std::sync::OnceLock::new(),
        }
    }

    /// Returns the directory in which Memoir keeps its files (`MEMOIR_HOME`).
    pub fn memoir_home(&self) -> PathBuf {
        self.directory.path().join("memoir")
    }

    /// Returns the directory in which the binary runs.
    pub fn workspace(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// Returns the path of the database.
    pub fn database(&self) -> PathBuf {
        self.memoir_home().join("memoir.db")
    }

    /// Returns the path of a file outside the workspace for the output of a background run.
    pub fn log(&self) -> PathBuf {
        self.directory.path().join("output.log")
    }

    /// Returns the environment of a run, which inherits only `PATH` from this machine.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        [
            ("PATH", path),
            ("HOME", text(self.directory.path().to_owned())),
            ("MEMOIR_HOME", text(self.memoir_home())),
            ("TZ", "UTC".to_owned()),
            // Tests must not use a model server that happens to run on this machine.
            ("MEMOIR_LOCAL_SERVERS", "none".to_owned()),
            // Most tests are about what happens in a project that the user trusts.
            ("MEMOIR_TRUST_PROJECT", "1".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// Returns the library that simulates a failing disk, compiled on first use.
    #[cfg(target_os = "linux")]
    pub(crate) fn bad_disk(&self) -> &Path {
        self.bad_disk.get_or_init(|| crate::torture::compile(self.directory.path()))
    }

    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// Prepares a run of the binary with these arguments.
    pub fn memoir(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> ProgramRun {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env_clear().envs(self.environment()).current_dir(self.workspace());
        ProgramRun::new(command)
    }

    /// Replaces the user's config file.
    pub fn write_config(&self, text: &str) {
        std::fs::create_dir_all(self.memoir_home()).unwrap();
        std::fs::write(self.memoir_home().join("config.toml"), text).unwrap();
    }

    /// Returns the names of the files in `MEMOIR_HOME` that contain `text`, ignoring case. Reads the raw
    /// bytes, because deleted text must not remain anywhere on disk.
    pub fn files_containing(&self, text: &str) -> Vec<String> {
        let mut directories = vec![self.memoir_home()];
        let mut names = Vec::new();
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap();
                if bytes.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text.as_bytes())) {
                    names.push(path.file_name().unwrap().to_string_lossy().into_owned());
                }
            }
        }
        names
    }
}
