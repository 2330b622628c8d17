//! Tracks child processes, and kills a command together with all processes that it started.

use std::{
    collections::{BTreeSet, HashSet},
    ffi::OsStr,
    io,
    process::{Command, Output},
    sync::Mutex,
    time::{Duration, Instant},
};

use memoir_core::lock;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group,
    set_child_subreaper, waitid, waitpid,
};

/// Child processes that this program started itself.
static REGISTERED: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

/// Leaders of the process groups that end with this program.
static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Starts a child process and registers it, so that it is not killed as a stray when a command ends.
///
/// # Errors
///
/// Fails if `start` fails.
pub fn spawn_registered<T, E>(
    start: impl FnOnce() -> Result<T, E>,
    pid: impl FnOnce(&T) -> Option<u32>,
) -> Result<T, E> {
    let mut registered = lock(&REGISTERED);
    let child = start()?;
    registered.get_or_insert_default().extend(pid(&child));
    Ok(child)
}

/// Runs a program of Memoir's own to its end, and returns its output.
pub(crate) fn run_registered(command: &mut Command) -> io::Result<Output> {
    let child = spawn_registered(|| command.spawn(), |child| Some(child.id()))?;
    let pid = child.id();
    let output = child.wait_with_output();
    lock(&REGISTERED).get_or_insert_default().remove(&pid);
    output
}

/// The process group of a child that was started with [`spawn_registered`] as the leader of a new group. Dropping this
/// kills the group.
#[derive(Debug)]
pub struct RegisteredGroup(Option<u32>);

impl RegisteredGroup {
    /// Takes the group over, if the child is running.
    pub fn new(leader: Option<u32>) -> Self {
        lock(&GROUPS).extend(leader);
        Self(leader)
    }
}

impl Drop for RegisteredGroup {
    fn drop(&mut self) {
        // The owner drops this as soon as the leader has ended, so that no other process can have its PID.
        if let Some(leader) = self.0 {
            lock(&REGISTERED).get_or_insert_default().remove(&leader);
            if lock(&GROUPS).remove(&leader) {
                kill_group(leader);
            }
        }
    }
}

/// Kills all groups. Call this when a signal ends the program.
pub fn kill_groups() {
    std::mem::take(&mut *lock(&GROUPS)).into_iter().for_each(kill_group);
}

/// Kills all registered child processes and their groups. Call this when the program exits.
pub fn kill_children() {
    let registered = lock(&REGISTERED).take().unwrap_or_default();
    for pid in registered {
        kill_group(pid);
        to_pid(pid).into_iter().for_each(kill);
    }
}

fn kill_group(leader: u32) {
    if let Some(group) = to_pid(leader)
        && let Err(error) = kill_process_group(group, Signal::KILL)
    {
        // Usually the group is empty and therefore no longer exists.
        tracing::debug!(group = leader, %error, "could not kill a process group");
    }
}

fn to_pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Kills a process. Errors are ignored because it may have ended already.
fn kill(pid: Pid) {
    if let Err(error) = kill_process(pid, Signal::KILL) {
        tracing::debug!(pid = pid.as_raw_nonzero(), %error, "could not kill a process; it may have ended already");
    }
}

/// The state of a command's first process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leader {
    Running,
    /// The process has ended and was waited for.
    Ended,
}

/// Time limit for killing a command's processes. Each generation of processes takes one round, and a busy machine is
/// slow; only a command that starts processes faster than they are killed takes this long.
const KILL_TIMEOUT: Duration = Duration::from_secs(30);

/// A command and all processes that it starts. Dropping this kills its process group and all processes that have left
/// the group. Such orphans become children of this process, and are recognized because they did not exist before.
pub(crate) struct ProcessTree {
    /// PID of the first process, until the tree is killed.
    pub(crate) leader: Option<u32>,
    existing_children: HashSet<u32>,
}

impl ProcessTree {
    /// Prepares for a command that is about to start.
    pub(crate) fn prepare() -> io::Result<Self> {
        // Makes orphans of our children our own children.
        set_child_subreaper(Some(getpid()))?;
        Ok(Self { leader: None, existing_children: list_children() })
    }

    /// Kills the processes. Further calls do nothing, because the leader's PID may then belong to another process.
    pub(crate) fn kill_all(&mut self, state: Leader) {
        let Some(leader_pid) = self.leader.take() else { return };
        kill_group(leader_pid);
        if let (Some(leader), Leader::Running) = (to_pid(leader_pid), state) {
            kill(leader);
            // Its children become ours only after it has ended.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            if let Err(error) = waitid(WaitId::Pid(leader), options) {
                // The runtime may have waited for it already.
                tracing::debug!(pid = leader_pid, %error, "could not wait for a command to end");
            }
        }
        // Killing one generation makes the next one our children, so repeat until none is left.
        let deadline = Instant::now() + KILL_TIMEOUT;
        let mut registered = lock(&REGISTERED);
        let registered = registered.get_or_insert_default();
        registered.remove(&leader_pid);
        if state == Leader::Running {
            // The runtime still has to wait for it.
            self.existing_children.insert(leader_pid);
        }
        while Instant::now() < deadline {
            let strays: Vec<u32> = list_children()
                .into_iter()
                .filter(|child| !registered.contains(child) && !self.existing_children.contains(child))
                .collect();
            if strays.is_empty() {
                break;
            }
            for stray in strays.into_iter().filter_map(to_pid) {
                kill(stray);
                if let Err(error) = waitpid(Some(stray), WaitOptions::empty()) {
                    // If it still exists, the next round finds it again.
                    tracing::debug!(pid = stray.as_raw_nonzero(), %error, "could not wait for a process to end");
                }
            }
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill_all(Leader::Running);
    }
}

/// Returns the children of this process that `/proc` lists.
fn list_children() -> HashSet<u32> {
    let own_pid = getpid().as_raw_nonzero().get().to_string();
    let processes = match std::fs::read_dir("/proc") {
        Ok(processes) => processes,
        Err(error) => {
            // Without /proc, only a command's process group can be killed.
            tracing::warn!(%error, "could not list child processes");
            return HashSet::new();
        }
    };
    let parse_pid = |name: &OsStr| name.to_str()?.parse::<u32>().ok();
    processes
        .filter_map(|entry| parse_pid(&entry.ok()?.file_name()))
        .filter(|pid| {
            // The command's name is in parentheses and may contain any character. An ended process has no file.
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let after = stat.rsplit_once(')').map(|(_, after)| after).unwrap_or_default();
            after.split_whitespace().nth(1) == Some(own_pid.as_str())
        })
        .collect()
}
