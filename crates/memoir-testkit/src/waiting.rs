//! Waits for conditions in other processes by polling.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Maximum duration of a wait before the test fails. A wait ends as soon as its condition holds, and even a
/// very busy machine needs only a fraction of this time.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

/// Pause between two checks of a condition.
const INTERVAL: Duration = Duration::from_millis(50);

/// Waits until `condition` holds by checking it repeatedly. Use this for events in another process;
/// [`Terminal`](crate::Terminal) and [`ScriptedProvider`](crate::ScriptedProvider) have their own methods,
/// which do not poll.
///
/// # Panics
///
/// Panics with `what` if the condition does not hold within [`WAIT_TIMEOUT`].
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "timed out waiting: {what}");
        thread::sleep(INTERVAL);
    }
}
