//! Who holds a lease: a process, by its machine, its number and when it began.

use memoir_core::Timestamp;
use rustix::{
    io::Errno,
    process::{Pid, getpid, test_kill_process},
    system::uname,
};

/// The name of this process.
pub fn of_this_process(now: Timestamp) -> String {
    format!("{}/{}/{}", machine(), getpid().as_raw_nonzero(), now.as_millis())
}

/// The machine, and what of its processes is seen from here: two containers may have one name and different numbers.
fn machine() -> String {
    let seen = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let seen: String = seen.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    format!("{}@{seen}", uname().nodename().to_string_lossy())
}

/// Whether the holder of a lease is known to be no more. Of other machines nothing is known.
pub fn is_dead(holder: &str, own: &str) -> bool {
    let mut parts = holder.split('/');
    let (Some(there), Some(pid), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) else { return false };
    if there != machine() || holder == own {
        return false;
    }
    // One that had our number before us.
    pid == getpid() || test_kill_process(pid) == Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_dead_of_this_machine_are_known() {
        let own = of_this_process(Timestamp::from_millis(5));
        assert!(!is_dead(&own, &own));
        let before = of_this_process(Timestamp::from_millis(4));
        assert!(is_dead(&before, &own), "our number, but not us");
        assert!(!is_dead("elsewhere/999999999/1", &own));
        assert!(!is_dead("nobody", &own));
        // Numbers go up to four million.
        assert!(is_dead(&format!("{}/2000000000/1", machine()), &own));
        assert!(!is_dead(&format!("{}/1/1", machine()), &own), "the first process is always there");
    }
}
