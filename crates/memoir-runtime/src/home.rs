//! The directories in which Memoir stores its files.

use std::path::{Path, PathBuf};

/// The directories for data, configuration and logs.
#[derive(Debug, Clone)]
pub struct Home {
    data: PathBuf,
    config: PathBuf,
    state: PathBuf,
}

impl Home {
    /// Uses one directory for everything.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        Self { data: directory.clone(), config: directory.clone(), state: directory }
    }

    /// Uses a separate directory for each purpose.
    pub fn new(data: PathBuf, config: PathBuf, state: PathBuf) -> Self {
        Self { data, config, state }
    }

    /// Returns the path of the database.
    pub fn database(&self) -> PathBuf {
        self.data.join("memoir.db")
    }

    /// Returns the data directory.
    pub fn data(&self) -> PathBuf {
        self.data.clone()
    }

    /// Returns the file of the token for programs of the same user on this machine.
    pub fn token_file(&self) -> PathBuf {
        self.data.join("serve.token")
    }

    /// Returns the directory of daily backups.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// Returns the directory of requests that wait for the memory of another machine.
    pub(crate) fn hub_queues(&self) -> PathBuf {
        self.data.join("hub")
    }

    /// Returns the directory of posts.
    pub fn posts(&self) -> PathBuf {
        self.data.join("posts")
    }

    /// Returns a copy whose data directory is a new one below `temporary`, unique to this process.
    pub(crate) fn disposable(&self, temporary: &Path) -> Self {
        let data = temporary.join(format!("memoir-demo-{}", std::process::id()));
        Self { data, ..self.clone() }
    }

    /// Returns the path of the log file.
    pub fn log_file(&self) -> PathBuf {
        self.state.join("memoir.log")
    }

    /// Returns the directory of personas.
    pub fn personas(&self) -> PathBuf {
        self.config.join("personas")
    }

    /// Returns the path of the user config.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }
}
