//! Waiting for a condition.

use std::{
    thread,
    time::{Duration, Instant},
};

/// How long a wait may take before the test fails. It is a safety net: a wait ends as soon as its condition holds, and even a
/// machine that is very busy needs only a small part of this.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Pause between two checks of a condition that nothing announces.
const INTERVAL: Duration = Duration::from_millis(50);

/// Waits until `condition` holds. Use it for what happens in another process; [`Terminal`](crate::Terminal) and
/// [`ScriptedProvider`](crate::ScriptedProvider) have waits of their own, which are told when something changes.
///
/// # Panics
///
/// Panics with `what` if the condition does not hold within [`PATIENCE`].
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        thread::sleep(INTERVAL);
    }
}
