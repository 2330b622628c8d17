//! The environment variables, directories and executable path of this process.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    process::{Command, Stdio},
};

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

/// Replaces this process by a new one of the same program, or of the version that has taken its place. Returns only if that
/// fails.
#[cfg(unix)]
pub(crate) fn replace(arguments: impl Iterator<Item = OsString>) -> io::Error {
    use std::os::unix::{ffi::OsStrExt as _, process::CommandExt as _};

    let arguments: Vec<OsString> = arguments.collect();
    let path = std::env::current_exe().unwrap_or_default();
    // Linux adds this to the path if another file has taken its place.
    let installed = path.as_os_str().as_bytes().strip_suffix(b" (deleted)").map(OsStr::from_bytes);
    // The last one leads to the running program, even if its file was deleted.
    let programs = [installed.unwrap_or(path.as_os_str()), OsStr::new("/proc/self/exe")];
    let [_, error] = programs.map(|program| Command::new(program).args(&arguments).exec());
    error
}

/// Replaces this process by a new one of the same program, which is not possible on this system.
#[cfg(not(unix))]
pub(crate) fn replace(_arguments: impl Iterator<Item = OsString>) -> io::Error {
    io::ErrorKind::Unsupported.into()
}

/// Starts a process of the same program that outlives this one, with `input` on its stdin and without output.
pub(crate) fn start_in_background(
    arguments: impl Iterator<Item = OsString>,
    input: &str,
) -> Result<(), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Signals to the group of this process, such as Ctrl-C, do not reach it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn()?;
    if let Some(mut stdin) = child.stdin {
        stdin.write_all(input.as_bytes())?;
    }
    Ok(())
}
