//! What this process is told by the system: variables, directories, the program itself. Nothing else reads them.

use etcetera::BaseStrategy as _;
use memoir_runtime::{Failure, environment::Environment, home::Home};

/// Captures the environment of this process.
pub(crate) fn environment() -> Environment {
    Environment::new(std::env::vars_os())
        .with_program(std::env::current_exe().ok())
        .with_temporary(std::env::temp_dir())
        .with_user_home(etcetera::home_dir().ok())
}

/// Returns `MEMOIR_HOME` for everything, or the directories `memoir` in the user's data, config and state directories.
pub(crate) fn home(environment: &Environment) -> Result<Home, Failure> {
    if let Some(home) = environment.memoir_home() {
        return Ok(Home::in_one(home));
    }
    let strategy = etcetera::choose_base_strategy().map_err(|_| {
        Failure::failed("your home directory cannot be found").hint("Set HOME or MEMOIR_HOME.")
    })?;
    let data = strategy.data_dir().join("memoir");
    let state = strategy.state_dir().map_or_else(|| data.clone(), |state| state.join("memoir"));
    Ok(Home::new(data, strategy.config_dir().join("memoir"), state))
}
