//! Confining the present process, which then becomes a command: it may read, and write only where it was told.

use std::{ffi::OsString, io, os::unix::process::CommandExt as _, path::PathBuf, process::Command};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError,
};
use rustix::process::{Signal, set_parent_process_death_signal, setsid};

/// The newest rules that are known here; an older kernel keeps those that it knows.
const NEWEST: ABI = ABI::V5;

/// What commands write to without writing anything.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Whether the kernel has Landlock.
pub(crate) fn is_supported() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V1))
        .and_then(Ruleset::create)
        .is_ok()
}

/// Confines this process and becomes a command: `--write FOLDER ... -- PROGRAM ARGUMENT ...`. Comes back only if that fails.
pub fn become_confined(arguments: impl Iterator<Item = OsString>) -> io::Error {
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut arguments = arguments.peekable();
    while arguments.next_if(|argument| argument == "--write").is_some() {
        folders.extend(arguments.next().map(PathBuf::from));
    }
    if arguments.next().as_deref() != Some("--".as_ref()) {
        return io::Error::other("no command was given");
    }
    let Some(program) = arguments.next() else { return io::Error::other("no command was given") };
    // Away from the user's terminal: nothing can be typed or drawn there on his behalf.
    if let Err(error) = setsid() {
        return error.into();
    }
    // Should our parent be killed, the command goes with it.
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // Where there is no Landlock, the parent has said so.
    if is_supported()
        && let Err(error) = confine(&folders)
    {
        return io::Error::other(error);
    }
    Command::new(program).args(arguments).exec()
}

fn confine(folders: &[PathBuf]) -> Result<(), RulesetError> {
    let writing = AccessFs::from_write(NEWEST);
    let mut rules = Ruleset::default().handle_access(writing)?.create()?;
    for folder in folders {
        // A folder that is gone needs no rule.
        if let Ok(open) = PathFd::new(folder) {
            rules = rules.add_rule(PathBeneath::new(open, writing))?;
        }
    }
    for device in DEVICES {
        if let Ok(open) = PathFd::new(device) {
            rules = rules.add_rule(PathBeneath::new(open, AccessFs::WriteFile))?;
        }
    }
    rules.restrict_self()?;
    Ok(())
}
