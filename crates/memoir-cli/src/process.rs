//! The environment variables, directories and executable path of this process.

use etcetera::BaseStrategy as _;
use memoir_runtime::{Failure, environment::Environment, home::Home};

pub(crate) fn environment() -> Environment {
    Environment::new(std::env::vars_os())
        .with_program(std::env::current_exe().ok())
        .with_temporary(std::env::temp_dir())
        .with_user_home(etcetera::home_dir().ok())
}

/// Returns `MEMOIR_HOME`, or the `memoir` directories in the user's data, config and state directories.
pub(crate) fn home(environment: &Environment) -> Result<Home, Failure> {
    if let Some(home) = environment.memoir_home() {
        return Ok(Home::in_directory(home));
    }
    let strategy = etcetera::choose_base_strategy().map_err(|_| {
        Failure::failed("could not find your home directory").hint("Set `HOME` or `MEMOIR_HOME`.")
    })?;
    let data = strategy.data_dir().join("memoir");
    let state = strategy.state_dir().map_or_else(|| data.clone(), |state| state.join("memoir"));
    Ok(Home::new(data, strategy.config_dir().join("memoir"), state))
}
