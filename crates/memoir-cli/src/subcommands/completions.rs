//! `memoir completions`: prints shell completion scripts and the man page.

use std::io::{Write as _, stdout};

use clap_complete::{Shell, generate};
use memoir_runtime::Failure;

use crate::args::{Script, command_line, man_page};

pub(crate) fn run(script: Script) -> Result<(), Failure> {
    let shell = match script {
        Script::Bash => Shell::Bash,
        Script::Zsh => Shell::Zsh,
        Script::Fish => Shell::Fish,
        Script::Elvish => Shell::Elvish,
        Script::Powershell => Shell::PowerShell,
        Script::Man => return Ok(write!(stdout(), "{}", man_page())?),
    };
    // Generate the script in memory, because `generate` panics if stdout is closed.
    let mut text = Vec::new();
    generate(shell, &mut command_line(), "memoir", &mut text);
    Ok(stdout().write_all(&text)?)
}
