//! Where Memoir keeps its things.

use std::path::{Path, PathBuf};

/// The directories that hold everything.
#[derive(Debug, Clone)]
pub struct Home {
    data: PathBuf,
    config: PathBuf,
    state: PathBuf,
}

impl Home {
    /// One directory for data, configuration and logs.
    pub fn in_one(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        Self { data: directory.clone(), config: directory.clone(), state: directory }
    }

    /// Separate directories, as a system's conventions have them.
    pub fn new(data: PathBuf, config: PathBuf, state: PathBuf) -> Self {
        Self { data, config, state }
    }

    /// The memory.
    pub fn database(&self) -> PathBuf {
        self.data.join("memoir.db")
    }

    /// Where everything is kept.
    pub fn data(&self) -> PathBuf {
        self.data.clone()
    }

    /// Where posts are kept.
    pub fn posts(&self) -> PathBuf {
        self.data.join("posts")
    }

    /// The same configuration with its data in a directory of this process below `temporary`.
    pub(crate) fn disposable(&self, temporary: &Path) -> Self {
        let data = temporary.join(format!("memoir-demo-{}", std::process::id()));
        Self { data, ..self.clone() }
    }

    /// Returns the path of the log file.
    pub fn log_file(&self) -> PathBuf {
        self.state.join("memoir.log")
    }

    /// Where the user describes how he wants the model to be.
    pub fn personas(&self) -> PathBuf {
        self.config.join("personas")
    }

    /// The user's config.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }
}
