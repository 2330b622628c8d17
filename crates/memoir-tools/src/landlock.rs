//! Confinement of commands with Landlock: a process restricts its own write access and then executes the command.

use std::{ffi::OsString, io, os::unix::process::CommandExt as _, path::PathBuf, process::Command};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError,
};
use rustix::process::{Signal, set_parent_process_death_signal, setsid};

/// Newest Landlock version in use. Older kernels apply the subset that they support.
const NEWEST_ABI: ABI = ABI::V5;

/// Devices that commands may write to because they discard the data.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Returns whether the kernel supports Landlock.
pub(crate) fn is_supported() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V1))
        .and_then(Ruleset::create)
        .is_ok()
}

/// Confines this process and replaces it with a command. The arguments are
/// `--write DIRECTORY ... -- PROGRAM ARGUMENT ...`. Returns only on failure.
pub fn exec_confined(arguments: impl Iterator<Item = OsString>) -> io::Error {
    let mut directories: Vec<PathBuf> = Vec::new();
    let mut arguments = arguments.peekable();
    while arguments.next_if(|argument| argument == "--write").is_some() {
        directories.extend(arguments.next().map(PathBuf::from));
    }
    if arguments.next().as_deref() != Some("--".as_ref()) {
        return io::Error::other("no command was given");
    }
    let Some(program) = arguments.next() else { return io::Error::other("no command was given") };
    // Detach from the user's terminal, so that the command cannot inject input or output there.
    if let Err(error) = setsid() {
        return error.into();
    }
    // If our parent is killed, the command is killed too.
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // Without Landlock the command runs unconfined; the parent process has told the user.
    if is_supported()
        && let Err(error) = confine(&directories)
    {
        return io::Error::other(error);
    }
    Command::new(program).args(arguments).exec()
}

fn confine(directories: &[PathBuf]) -> Result<(), RulesetError> {
    let write_access = AccessFs::from_write(NEWEST_ABI);
    let mut rules = Ruleset::default().handle_access(write_access)?.create()?;
    for directory in directories {
        // A directory that no longer exists does not need a rule.
        if let Ok(fd) = PathFd::new(directory) {
            rules = rules.add_rule(PathBeneath::new(fd, write_access))?;
        }
    }
    for device in DEVICES {
        if let Ok(fd) = PathFd::new(device) {
            rules = rules.add_rule(PathBeneath::new(fd, AccessFs::WriteFile))?;
        }
    }
    rules.restrict_self()?;
    Ok(())
}
