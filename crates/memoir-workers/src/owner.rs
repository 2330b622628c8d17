//! Names of the processes that hold leases: machine, process id and the time at which the name was created.

use std::sync::atomic::{AtomicI64, Ordering};

use memoir_core::Timestamp;
use rustix::{
    io::Errno,
    param::clock_ticks_per_second,
    process::{Pid, getpid, test_kill_process},
    system::uname,
};

/// Returns a lease owner name for this process. Each call returns a different one, so that sessions within one process
/// do not release each other's leases.
pub fn name_this_process(now: Timestamp) -> String {
    static LATEST: AtomicI64 = AtomicI64::new(i64::MIN);
    let advance = |latest: i64| Some(now.as_millis().max(latest.saturating_add(1)));
    let unique = match LATEST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, advance) {
        Ok(latest) | Err(latest) => now.as_millis().max(latest.saturating_add(1)),
    };
    format!("{}/{}/{unique}", machine(), getpid().as_raw_nonzero())
}

/// Returns the host name and the PID namespace. Containers with the same host name have separate process ids.
fn machine() -> String {
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let namespace: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    format!("{}@{namespace}", uname().nodename().to_string_lossy())
}

/// Returns `true` if the holder of a lease is known to have ended. A process on another machine never is.
pub fn is_dead(holder: &str, own: &str) -> bool {
    holder != own && is_alive(holder) == Some(false)
}

/// Returns whether the holder of a lease is running, or `None` if it is on another machine.
pub fn is_alive(holder: &str) -> Option<bool> {
    let mut parts = holder.split('/');
    let (Some(host), Some(pid), Some(since), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let (pid, since) = (pid.parse().ok().and_then(Pid::from_raw)?, since.parse().ok()?);
    if host != machine() {
        return None;
    }
    let exists = test_kill_process(pid) != Err(Errno::SRCH);
    // Process ids are reused: a process that started after the name was created is a different one.
    Some(exists && started_at(pid).is_none_or(|started| started <= since))
}

/// Returns the start time of a process in milliseconds. It is one second early because boot time is only exact to the second.
fn started_at(pid: Pid) -> Option<i64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The program name may contain spaces and parentheses, so skip to the last closing parenthesis.
    let ticks: i64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let boot = std::fs::read_to_string("/proc/stat").ok()?;
    let boot: i64 = boot.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    let per_second = i64::try_from(clock_ticks_per_second()).ok().filter(|ticks| *ticks > 0)?;
    Some(boot * 1000 + ticks * 1000 / per_second - 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ended_processes_of_this_machine_are_dead() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(0);
        let own = name_this_process(Timestamp::from_millis(now));
        assert!(!is_dead(&own, &own) && is_alive(&own) == Some(true));
        assert_ne!(own, name_this_process(Timestamp::from_millis(now)), "each session has its own name");
        let earlier_process = format!("{}/{}/4", machine(), getpid().as_raw_nonzero());
        assert!(
            is_dead(&earlier_process, &own),
            "the same process id, but named before this process started"
        );
        assert!(!is_dead("elsewhere/999999999/1", &own));
        assert!(!is_dead("not an owner name", &own));
        // Linux process ids stay below four million.
        assert!(is_dead(&format!("{}/2000000000/1", machine()), &own));
        assert!(!is_dead(&format!("{}/1/{now}", machine()), &own), "the init process is always running");
    }
}
