//! Confinement of commands. A supervisor creates namespaces, starts the command in them, and ends everything that it
//! started, even if Memoir itself is killed. The command's first process restricts itself with Landlock before it
//! executes the command.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    iter::Peekable,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
    sync::LazyLock,
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{StatVfsMountFlags, statvfs},
    io::Errno,
    mount::{MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount},
    process::{
        Pid, PidfdFlags, Signal, getegid, geteuid, getpid, kill_process, pidfd_open,
        set_parent_process_death_signal, setsid,
    },
    thread::{CapabilitiesSecureBits, UnshareFlags, set_capabilities_secure_bits, unshare_unsafe},
};

use crate::{
    process_tree::{Leader, ProcessTree},
    protected::NameWatch,
};

/// First argument with which this program supervises a command.
pub const CONFINE_ARGUMENT: &str = "__confined";

/// Further arguments: execute the command instead of supervising it, confine it with Landlock, let it use the network,
/// keep a directory in its place, make a path read-only, watch names in a directory, let it write to a directory.
const EXECUTE: &str = "--execute";
/// Only try whether namespaces can be created.
const PROBE: &str = "--probe";
pub(crate) const LANDLOCK: &str = "--landlock";
pub(crate) const NETWORK: &str = "--network";
pub(crate) const PIN: &str = "--pin";
pub(crate) const PROTECT: &str = "--protect";
pub(crate) const WATCH: &str = "--watch";
pub(crate) const WRITE: &str = "--write";

/// This program.
const PROGRAM: &str = "/proc/self/exe";

/// Exit code of a supervisor whose command was ended because Memoir has ended.
const ABANDONED: u8 = 137;

/// How often a supervisor looks whether its command has ended, where the kernel does not tell it.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Newest Landlock version in use. Older kernels apply the subset that they support.
const NEWEST_ABI: ABI = ABI::V6;

/// Devices that commands may write to because they discard the data.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Returns whether the kernel supports Landlock.
pub(crate) fn is_supported() -> bool {
    // Only the first answer counts, because a command might make later ones fail.
    static SUPPORTED: LazyLock<bool> = LazyLock::new(|| {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(ABI::V1))
            .and_then(Ruleset::create)
            .is_ok()
    });
    *SUPPORTED
}

/// Runs a command in confinement. The arguments follow [`CONFINE_ARGUMENT`]:
/// `[--landlock] [--network] --pin DIRECTORY ... --protect PATH ... --watch DIRECTORY ... --write DIRECTORY ... --
/// PROGRAM ARGUMENT ...`. The command ends when stdin is closed.
///
/// # Errors
///
/// Fails if the command cannot be confined or started.
pub fn run_confined(arguments: impl Iterator<Item = OsString>) -> io::Result<ExitCode> {
    let mut arguments = arguments.peekable();
    if arguments.next_if(|argument| argument == PROBE).is_some() {
        return enter_namespaces(false).map(|()| ExitCode::SUCCESS);
    }
    match arguments.next_if(|argument| argument == EXECUTE) {
        Some(_) => Err(execute(arguments)),
        None => supervise(arguments),
    }
}

/// Why a supervisor ends.
#[derive(PartialEq, Eq)]
enum End {
    Command,
    /// Memoir has closed stdin, or has ended.
    Abandoned,
}

/// What a command may do.
struct Confinement {
    landlock: bool,
    network: bool,
    pinned: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    watched: Vec<PathBuf>,
    directories: Vec<PathBuf>,
}

impl Confinement {
    /// Parses the arguments before the command, whose program and arguments remain.
    fn parse(arguments: &mut Peekable<impl Iterator<Item = OsString>>) -> io::Result<Self> {
        let landlock = arguments.next_if(|argument| argument == LANDLOCK).is_some();
        let network = arguments.next_if(|argument| argument == NETWORK).is_some();
        let [pinned, protected, watched, directories] = [PIN, PROTECT, WATCH, WRITE].map(|option| {
            let mut paths = Vec::new();
            while arguments.next_if(|argument| argument == option).is_some() {
                paths.extend(arguments.next().map(PathBuf::from));
            }
            paths
        });
        match arguments.next() {
            Some(separator) if separator == "--" => {
                Ok(Self { landlock, network, pinned, protected, watched, directories })
            }
            _ => Err(io::Error::other("no command was given")),
        }
    }
}

fn supervise(arguments: impl Iterator<Item = OsString>) -> io::Result<ExitCode> {
    let arguments: Vec<OsString> = arguments.collect();
    let confinement = Confinement::parse(&mut arguments.iter().cloned().peekable())?;
    // Detach from the user's terminal, so that the command cannot inject input or output there.
    setsid()?;
    let names = NameWatch::start(confinement.watched.iter())?;
    if can_isolate() {
        isolate(&confinement)?;
    } else {
        tracing::debug!("commands run without namespaces");
    }
    let mut processes = ProcessTree::prepare()?;
    let mut command = Command::new(PROGRAM);
    command.arg(CONFINE_ARGUMENT).arg(EXECUTE).args(arguments).stdin(Stdio::null());
    let mut child = command.spawn()?;
    processes.leader = Some(child.id());
    if wait_for_end(&mut child)? == End::Abandoned {
        processes.kill_all(Leader::Running);
        // Memoir, which otherwise does this, may have ended.
        names.finish();
        return Ok(ExitCode::from(ABANDONED));
    }
    let status = child.wait()?;
    processes.kill_all(Leader::Ended);
    if status.code().is_none() {
        // Memoir must see a signal, not an exit code.
        kill_process(getpid(), Signal::KILL)?;
    }
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Waits until the command ends or stdin is closed. After `isolate`, a process cannot start threads.
fn wait_for_end(child: &mut Child) -> io::Result<End> {
    // Kernels before 5.3 cannot report the end of a process to `poll`.
    let command = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok();
    let interval = command.is_none().then_some(POLL_INTERVAL);
    let stdin = io::stdin();
    loop {
        let mut polled = vec![PollFd::new(&stdin, PollFlags::IN)];
        polled.extend(command.as_ref().map(|command| PollFd::new(command, PollFlags::IN)));
        match poll(&mut polled, interval.as_ref()) {
            Err(Errno::INTR) => continue,
            result => result?,
        };
        if child.try_wait()?.is_some() {
            return Ok(End::Command);
        }
        if !polled[0].revents().is_empty() && rustix::io::read(&stdin, &mut [0; 16][..])? == 0 {
            return Ok(End::Abandoned);
        }
    }
}

/// Confines this process and replaces it with the command. Returns only on failure.
fn execute(mut arguments: Peekable<impl Iterator<Item = OsString>>) -> io::Error {
    let confinement = match Confinement::parse(&mut arguments) {
        Ok(confinement) => confinement,
        Err(error) => return error,
    };
    let Some(program) = arguments.next() else { return io::Error::other("no command was given") };
    // A signal to the command's process group must not reach the supervisor.
    if let Err(error) = setsid() {
        return error.into();
    }
    // If the supervisor is killed, the command is killed too.
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    if let Err(error) = give_up_privileges() {
        return error;
    }
    // Without Landlock, the command can write wherever the user can; Memoir has said so.
    if confinement.landlock
        && let Err(error) = confine(&confinement.directories, confinement.network)
    {
        return io::Error::other(error);
    }
    Command::new(program).args(arguments).exec()
}

/// Returns whether this process can isolate a command. Another process tries it, because there is no way back from
/// half of it: some systems allow to create a namespace, but nothing in it.
fn can_isolate() -> bool {
    let mut command = Command::new(PROGRAM);
    command.args([CONFINE_ARGUMENT, PROBE]);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Moves this process and its children into namespaces of their own: the children cannot name other processes, and see
/// no network unless they may use it. This process must have one thread only.
fn enter_namespaces(network: bool) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut namespaces = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWPID;
    if !network {
        namespaces |= UnshareFlags::NEWNET;
    }
    // SAFETY: only `UnshareFlags::FILES` is unsafe, which is not used.
    #[expect(unsafe_code, reason = "rustix marks all uses of unshare as unsafe")]
    unsafe { unshare_unsafe(namespaces) }?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// Enters namespaces in which protected paths are read-only, and pinned directories keep their place. Landlock keeps the
/// children from changing the mounts.
///
/// Where the system does not allow namespaces, only Landlock confines the command.
fn isolate(confinement: &Confinement) -> io::Result<()> {
    enter_namespaces(confinement.network)?;
    // Directories come before what they contain.
    let pinned = confinement.pinned.iter().map(|path| (path, false));
    let mounts: BTreeMap<&PathBuf, bool> =
        pinned.chain(confinement.protected.iter().map(|path| (path, true))).collect();
    for (path, is_read_only) in mounts {
        // A mount cannot be renamed.
        mount_bind_recursive(path, path)?;
        if !is_read_only {
            continue;
        }
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
    // Otherwise relative paths would lead past the mounts.
    std::env::set_current_dir(std::env::current_dir()?)
}

/// Makes sure that root has no privileges in the namespace, where it could undo the mounts. Other users have none after
/// `exec`.
fn give_up_privileges() -> io::Result<()> {
    let is_isolated = std::fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().nth(2) == Some("1"));
    if is_isolated && geteuid().is_root() {
        let bits = CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED;
        set_capabilities_secure_bits(bits)?;
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
