//! `memoir completions`: scripts for shells, and the man page.

use std::io::{Write as _, stdout};

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use memoir_runtime::failure::Failure;

use crate::{
    args::{Args, Script},
    reference,
};

pub(crate) fn run(script: Script) -> Result<(), Failure> {
    let shell = match script {
        Script::Bash => Shell::Bash,
        Script::Zsh => Shell::Zsh,
        Script::Fish => Shell::Fish,
        Script::Elvish => Shell::Elvish,
        Script::Powershell => Shell::PowerShell,
        Script::Man => return Ok(write!(stdout(), "{}", reference::man_page())?),
    };
    // Made first, since whoever reads may go away.
    let mut text = Vec::new();
    generate(shell, &mut Args::command(), "memoir", &mut text);
    Ok(stdout().write_all(&text)?)
}
