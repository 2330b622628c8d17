//! Where Memoir keeps its things.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

use crate::{
    environment::Environment,
    failure::{Failure, Kind},
};

/// The directories that hold everything.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    data: PathBuf,
    config: PathBuf,
}

impl Home {
    /// `MEMOIR_HOME` for all of it, or the folder `memoir` in the user's data and config directories.
    pub(crate) fn find(environment: &Environment) -> Result<Self, Failure> {
        if let Some(home) = environment.memoir_home() {
            return Ok(Self { data: home.clone(), config: home });
        }
        let strategy = etcetera::choose_base_strategy().map_err(|_| {
            Failure::new(Kind::Failed, "your home directory cannot be found").hint("Set HOME or MEMOIR_HOME.")
        })?;
        Ok(Self { data: strategy.data_dir().join("memoir"), config: strategy.config_dir().join("memoir") })
    }

    /// The memory.
    pub(crate) fn database(&self) -> PathBuf {
        self.data.join("memoir.db")
    }

    /// Where everything is kept.
    pub(crate) fn data(&self) -> PathBuf {
        self.data.clone()
    }

    /// Where posts are kept.
    pub(crate) fn posts(&self) -> PathBuf {
        self.data.join("posts")
    }

    /// The same with its data where nothing stays.
    pub(crate) fn thrown_away(&self) -> Self {
        let data = std::env::temp_dir().join(format!("memoir-demo-{}", std::process::id()));
        Self { data, config: self.config.clone() }
    }

    /// Where the user describes how he wants the model to be.
    pub(crate) fn personas(&self) -> PathBuf {
        self.config.join("personas")
    }

    /// The user's config.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }
}
