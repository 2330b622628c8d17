//! Where Memoir keeps its things.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

use crate::{
    environment::Environment,
    failure::{Failure, Kind},
};

/// The directory that holds everything.
#[derive(Debug, Clone)]
pub(crate) struct Home(PathBuf);

impl Home {
    /// `MEMOIR_HOME`, or the folder `memoir` in the user's data directory.
    pub(crate) fn find(environment: &Environment) -> Result<Self, Failure> {
        if let Some(home) = &environment.memoir_home {
            return Ok(Self(home.clone()));
        }
        let strategy = etcetera::choose_base_strategy().map_err(|_| {
            Failure::new(Kind::Failed, "your home directory cannot be found").hint("Set HOME or MEMOIR_HOME.")
        })?;
        Ok(Self(strategy.data_dir().join("memoir")))
    }

    /// The memory.
    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("memoir.db")
    }
}
