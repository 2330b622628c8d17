//! `memoir completions`: prints shell completion scripts and the man page.
//!
//! The scripts ask the program itself for completions, so they know all its commands, options and values.

use std::{
    fs,
    io::{Write as _, stdout},
    path::Path,
};

use clap_complete::{
    CompleteEnv,
    env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh},
};
use memoir_runtime::Failure;

use crate::{
    args::{Script, command_line},
    man::{all_pages, man_page},
};

/// Environment variable that names the shell that asks for completions.
const VARIABLE: &str = "_MEMOIR_COMPLETE";

/// Answers a shell that asks for completions, and exits. Does nothing if none does.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(command_line).var(VARIABLE).bin("memoir").complete();
}

/// Prints a script. With a directory, writes a man page for every command to it.
pub(crate) fn run(script: Script, directory: Option<&Path>) -> Result<(), Failure> {
    let shell: &dyn EnvCompleter = match (script, directory) {
        (Script::Man, Some(directory)) => {
            let write_all = || {
                fs::create_dir_all(directory)?;
                all_pages().into_iter().try_for_each(|(name, page)| fs::write(directory.join(name), page))
            };
            return write_all().map_err(|error| {
                Failure::failed(format!("could not write to {}: {error}", directory.display()))
                    .hint("Choose another directory.")
            });
        }
        (_, Some(_)) => {
            return Err(
                Failure::usage("`--directory` is for man pages").hint("Use `memoir completions man`.")
            );
        }
        (Script::Man, None) => return Ok(write!(stdout(), "{}", man_page())?),
        (Script::Bash, None) => &Bash,
        (Script::Zsh, None) => &Zsh,
        (Script::Fish, None) => &Fish,
        (Script::Elvish, None) => &Elvish,
        (Script::Powershell, None) => &Powershell,
    };
    let mut text = Vec::new();
    shell.write_registration(VARIABLE, "memoir", "memoir", "memoir", &mut text)?;
    Ok(stdout().write_all(&text)?)
}
