//! Child processes: which ones belong to us, and ending a command with everything it has started.

use std::{
    collections::HashSet,
    ffi::OsStr,
    io,
    sync::Mutex,
    time::{Duration, Instant},
};

use memoir_core::lock;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group,
    set_child_subreaper, waitid, waitpid,
};

/// The child processes that this program has started on purpose.
static KNOWN_CHILDREN: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

/// Starts a child process and registers it, so that ending a command does not end it as a stray.
///
/// # Errors
///
/// Fails if `start` fails.
pub fn spawn_registered<T, E>(
    start: impl FnOnce() -> Result<T, E>,
    pid: impl FnOnce(&T) -> Option<u32>,
) -> Result<T, E> {
    let mut known = lock(&KNOWN_CHILDREN);
    let child = start()?;
    known.get_or_insert_default().extend(pid(&child));
    Ok(child)
}

/// Kills all registered child processes. Call it when the program ends.
pub fn end_children() {
    let known = lock(&KNOWN_CHILDREN).take().unwrap_or_default();
    known.into_iter().filter_map(to_pid).for_each(kill);
}

fn to_pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Kills a process. It may have ended already, so an error is not a failure.
fn kill(pid: Pid) {
    if let Err(error) = kill_process(pid, Signal::KILL) {
        tracing::debug!(pid = pid.as_raw_nonzero(), %error, "a process was not killed; it may have ended already");
    }
}

/// Whether the first process of a command is still running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leader {
    Running,
    /// It has ended and was waited for.
    Ended,
}

/// How long ending a command may take. Long, because each generation of its processes takes a round, and a loaded machine is
/// slow; nothing takes this long but a command that starts processes faster than they are killed.
const LONGEST_END: Duration = Duration::from_secs(30);

/// A command and all processes that it starts. Dropping it ends them: the process group, and processes that have left the
/// group. Orphans become children of this process; they are distinguished from others by not having been there before.
pub(crate) struct ProcessTree {
    /// The first process, until it was ended.
    pub(crate) leader: Option<u32>,
    before: HashSet<u32>,
}

impl ProcessTree {
    /// Prepares for a command that is about to start.
    pub(crate) fn prepare() -> io::Result<Self> {
        // Orphans of our children become our children.
        set_child_subreaper(Some(getpid()))?;
        Ok(Self { leader: None, before: children() })
    }

    /// Ends the processes, once: afterwards the PID of the leader may belong to another process.
    pub(crate) fn end(&mut self, state: Leader) {
        let Some(number) = self.leader.take() else { return };
        if let Some(leader) = to_pid(number) {
            if let Err(error) = kill_process_group(leader, Signal::KILL) {
                // An empty group does not exist any more, which is the usual case.
                tracing::debug!(group = number, %error, "a process group was not killed");
            }
            if state == Leader::Running {
                kill(leader);
                // Its children become ours only once it has ended.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                if let Err(error) = waitid(WaitId::Pid(leader), options) {
                    // The runtime may have waited for it already.
                    tracing::debug!(pid = number, %error, "the end of a command was not awaited");
                }
            }
        }
        // The children of each generation that is killed become ours.
        let deadline = Instant::now() + LONGEST_END;
        let mut known = lock(&KNOWN_CHILDREN);
        let known = known.get_or_insert_default();
        known.remove(&number);
        if state == Leader::Running {
            // The runtime still has to wait for it.
            self.before.insert(number);
        }
        while Instant::now() < deadline {
            let strays: Vec<u32> = children()
                .into_iter()
                .filter(|child| !known.contains(child) && !self.before.contains(child))
                .collect();
            if strays.is_empty() {
                break;
            }
            for stray in strays.into_iter().filter_map(to_pid) {
                kill(stray);
                if let Err(error) = waitpid(Some(stray), WaitOptions::empty()) {
                    // If it is still there, the next round finds it again.
                    tracing::debug!(pid = stray.as_raw_nonzero(), %error, "the end of a process was not awaited");
                }
            }
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.end(Leader::Running);
    }
}

/// Returns the children of this process, as far as `/proc` shows them.
fn children() -> HashSet<u32> {
    let own = getpid().as_raw_nonzero().get().to_string();
    let processes = match std::fs::read_dir("/proc") {
        Ok(processes) => processes,
        Err(error) => {
            // Without /proc only the process group of a command can be ended.
            tracing::warn!(%error, "child processes cannot be listed");
            return HashSet::new();
        }
    };
    let number = |name: &OsStr| name.to_str()?.parse::<u32>().ok();
    processes
        .filter_map(|entry| number(&entry.ok()?.file_name()))
        .filter(|pid| {
            // The name of the command is in parentheses and may contain any character. A process that has ended has no file.
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let after = stat.rsplit_once(')').map(|(_, after)| after).unwrap_or_default();
            after.split_whitespace().nth(1) == Some(own.as_str())
        })
        .collect()
}
