//! Confinement of commands. A supervisor starts the command and ends everything that it started, even if Memoir itself
//! is killed. The command's first process restricts itself with Landlock before it executes the command.

use std::{
    ffi::OsString,
    io,
    iter::Peekable,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Command, ExitCode, ExitStatus, Stdio},
    sync::mpsc,
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope,
};
use rustix::{
    fs::{StatVfsMountFlags, statvfs},
    mount::{MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount},
    process::{Signal, getegid, geteuid, getpid, kill_process, set_parent_process_death_signal, setsid},
    thread::{UnshareFlags, unshare_unsafe},
};

use crate::process_tree::{Leader, ProcessTree};

/// First argument with which this program supervises a command.
pub const CONFINE_ARGUMENT: &str = "__confined";

/// Further arguments: execute the command instead of supervising it, let it use the network, make a path read-only, let
/// it write to a directory.
const EXECUTE: &str = "--execute";
pub(crate) const NETWORK: &str = "--network";
pub(crate) const PROTECT: &str = "--protect";
pub(crate) const WRITE: &str = "--write";

/// This program.
const PROGRAM: &str = "/proc/self/exe";

/// Exit code of a supervisor whose command was ended because Memoir has ended.
const ABANDONED: u8 = 137;

/// Newest Landlock version in use. Older kernels apply the subset that they support.
const NEWEST_ABI: ABI = ABI::V6;

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

/// Runs a command in confinement. The arguments follow [`CONFINE_ARGUMENT`]:
/// `[--network] --protect PATH ... --write DIRECTORY ... -- PROGRAM ARGUMENT ...`. The command ends when stdin is closed.
///
/// # Errors
///
/// Fails if the command cannot be confined or started.
pub fn run_confined(arguments: impl Iterator<Item = OsString>) -> io::Result<ExitCode> {
    let mut arguments = arguments.peekable();
    match arguments.next_if(|argument| argument == EXECUTE) {
        Some(_) => Err(execute(arguments)),
        None => supervise(arguments),
    }
}

enum SupervisorEvent {
    CommandEnded(io::Result<ExitStatus>),
    /// Memoir has closed stdin, or has ended.
    Abandoned,
}

fn supervise(arguments: impl Iterator<Item = OsString>) -> io::Result<ExitCode> {
    // Detach from the user's terminal, so that the command cannot inject input or output there.
    setsid()?;
    let mut processes = ProcessTree::prepare()?;
    let mut command = Command::new(PROGRAM);
    command.arg(CONFINE_ARGUMENT).arg(EXECUTE).args(arguments).stdin(Stdio::null());
    let mut child = command.spawn()?;
    processes.leader = Some(child.id());
    let (events, received) = mpsc::channel();
    let stdin_events = events.clone();
    std::thread::spawn(move || {
        let result = io::copy(&mut io::stdin(), &mut io::sink());
        if let Err(error) = result {
            tracing::debug!(%error, "could not read from the pipe to Memoir");
        }
        // The receiver is gone if the command has ended meanwhile.
        let _ = stdin_events.send(SupervisorEvent::Abandoned);
    });
    std::thread::spawn(move || {
        // The receiver is gone if Memoir has ended meanwhile.
        let _ = events.send(SupervisorEvent::CommandEnded(child.wait()));
    });
    match received.recv().map_err(io::Error::other)? {
        SupervisorEvent::CommandEnded(status) => {
            processes.kill_all(Leader::Ended);
            let status = status?;
            if status.code().is_none() {
                // Memoir must see a signal, not an exit code.
                kill_process(getpid(), Signal::KILL)?;
            }
            Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
        SupervisorEvent::Abandoned => {
            processes.kill_all(Leader::Running);
            Ok(ExitCode::from(ABANDONED))
        }
    }
}

/// Confines this process and replaces it with the command. Returns only on failure.
fn execute(mut arguments: Peekable<impl Iterator<Item = OsString>>) -> io::Error {
    let network = arguments.next_if(|argument| argument == NETWORK).is_some();
    let mut protected: Vec<PathBuf> = Vec::new();
    while arguments.next_if(|argument| argument == PROTECT).is_some() {
        protected.extend(arguments.next().map(PathBuf::from));
    }
    let mut directories: Vec<PathBuf> = Vec::new();
    while arguments.next_if(|argument| argument == WRITE).is_some() {
        directories.extend(arguments.next().map(PathBuf::from));
    }
    if arguments.next().as_deref() != Some("--".as_ref()) {
        return io::Error::other("no command was given");
    }
    let Some(program) = arguments.next() else { return io::Error::other("no command was given") };
    // A signal to the command's process group must not reach the supervisor.
    if let Err(error) = setsid() {
        return error.into();
    }
    // If the supervisor is killed, the command is killed too.
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // Where namespaces are not available, only tools protect these paths.
    if !protected.is_empty()
        && let Err(error) = make_read_only(&protected)
    {
        tracing::debug!(%error, "commands can change protected paths");
    }
    // Without Landlock the command runs unconfined; the parent process has told the user.
    if is_supported()
        && let Err(error) = confine(&directories, network)
    {
        return io::Error::other(error);
    }
    Command::new(program).args(arguments).exec()
}

/// Makes paths read-only for this process and its children, with mounts that only they see. Landlock then keeps the
/// command from changing the mounts. This process must have one thread only.
fn make_read_only(paths: &[PathBuf]) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: only `UnshareFlags::FILES` is unsafe, which is not used.
    #[expect(unsafe_code, reason = "rustix marks all uses of unshare as unsafe")]
    unsafe {
        unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?
    };
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    for path in paths {
        mount_bind_recursive(path, path)?;
        // The mount may not lose the restrictions of the one that it covers.
        let mut flags = MountFlags::BIND | MountFlags::RDONLY;
        let covered = statvfs(path)?.f_flag;
        for (restriction, flag) in [
            (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
            (StatVfsMountFlags::NODEV, MountFlags::NODEV),
            (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
            (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
            (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
            (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
        ] {
            if covered.contains(restriction) {
                flags |= flag;
            }
        }
        mount_remount(path, flags, "")?;
    }
    Ok(())
}

fn confine(directories: &[PathBuf], network: bool) -> Result<(), RulesetError> {
    let write_access = AccessFs::from_write(NEWEST_ABI);
    // The command can signal only processes that it has started itself, so it cannot end Memoir or the supervisor.
    let mut rules = Ruleset::default().handle_access(write_access)?.scope(Scope::from_all(NEWEST_ABI))?;
    if !network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST_ABI))?;
    }
    let mut rules = rules.create()?;
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
