//! The processes that hold leases: each is named by its machine, its process id and the time it was named.

use std::sync::atomic::{AtomicI64, Ordering};

use memoir_core::Timestamp;
use rustix::{
    io::Errno,
    param::clock_ticks_per_second,
    process::{Pid, getpid, test_kill_process},
    system::uname,
};

/// Returns a name under which this process holds leases. Each call returns another one, so that the sessions of one process
/// do not release each other's leases.
pub fn name_this_process(now: Timestamp) -> String {
    static LATEST: AtomicI64 = AtomicI64::new(i64::MIN);
    let after = |latest: i64| Some(now.as_millis().max(latest.saturating_add(1)));
    let unique = match LATEST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after) {
        Ok(latest) | Err(latest) => now.as_millis().max(latest.saturating_add(1)),
    };
    format!("{}/{}/{unique}", machine(), getpid().as_raw_nonzero())
}

/// Returns the name of the machine and of its process namespace: two containers may share a name but not their process ids.
fn machine() -> String {
    let seen = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let seen: String = seen.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    format!("{}@{seen}", uname().nodename().to_string_lossy())
}

/// Returns `true` if the holder of a lease is known to have ended. Nothing is known of other machines.
pub fn is_dead(holder: &str, own: &str) -> bool {
    holder != own && is_alive(holder) == Some(false)
}

/// Returns whether the holder of a lease is running, or `None` if it belongs to another machine.
pub fn is_alive(holder: &str) -> Option<bool> {
    let mut parts = holder.split('/');
    let (Some(there), Some(pid), Some(since), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let (pid, since) = (pid.parse().ok().and_then(Pid::from_raw)?, since.parse().ok()?);
    if there != machine() {
        return None;
    }
    let is_there = test_kill_process(pid) != Err(Errno::SRCH);
    // Process ids are reused: a process that started after the lease was named is a different one.
    Some(is_there && began(pid).is_none_or(|began| began <= since))
}

/// About when a process began, in milliseconds; a second early, since the two clocks do not agree to the last.
fn began(pid: Pid) -> Option<i64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name may have anything in it; what follows its parenthesis has not.
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
    fn only_the_dead_of_this_machine_are_known() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(0);
        let own = name_this_process(Timestamp::from_millis(now));
        assert!(!is_dead(&own, &own) && is_alive(&own) == Some(true));
        assert_ne!(own, name_this_process(Timestamp::from_millis(now)), "each session has a name of its own");
        let before = format!("{}/{}/4", machine(), getpid().as_raw_nonzero());
        assert!(is_dead(&before, &own), "our number, but long before us");
        assert!(!is_dead("elsewhere/999999999/1", &own));
        assert!(!is_dead("nobody", &own));
        // Numbers go up to four million.
        assert!(is_dead(&format!("{}/2000000000/1", machine()), &own));
        assert!(!is_dead(&format!("{}/1/{now}", machine()), &own), "the first process is always there");
    }
}
