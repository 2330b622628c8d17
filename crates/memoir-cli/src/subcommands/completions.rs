//! `memoir completions`: scripts for shells, and the man page.

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
    // Made first, since whoever reads may go away.
    let mut text = Vec::new();
    generate(shell, &mut command_line(), "memoir", &mut text);
    Ok(stdout().write_all(&text)?)
}
