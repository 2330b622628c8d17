//! When failed work is tried again.

use std::time::Duration;

use memoir_core::Timestamp;

/// So often in all; then it has failed for good.
const MOST_ATTEMPTS: u32 = 7;

/// When to try again after failing `attempts` times before: after 1, 2, 4, 8, 16 and 32 seconds, and up to a quarter longer,
/// so that not all come back at once. Then never.
pub(crate) fn next(attempts: u32, now: Timestamp) -> Option<Timestamp> {
    if attempts + 1 >= MOST_ATTEMPTS {
        return None;
    }
    let wait = 1000_i64 << attempts;
    let jitter = now.as_millis().unsigned_abs() % (wait.unsigned_abs() / 4);
    Some(Timestamp::from_millis(now.as_millis() + wait + i64::try_from(jitter).unwrap_or(0)))
}

/// A worker rests at most so long after a failure.
const LONGEST_REST: Duration = Duration::from_secs(300);

/// How long a worker rests after failing, when it failed so often in a row before: 1, 2, 4 and so on seconds.
pub(crate) fn rest(troubles: u32) -> Duration {
    Duration::from_secs(1 << troubles.min(16)).min(LONGEST_REST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_and_then_it_is_over() {
        let now = 1_700_000_000_000;
        let waits: Vec<Option<i64>> = (0..8)
            .map(|attempts| next(attempts, Timestamp::from_millis(now)).map(|due| due.as_millis() - now))
            .collect();
        for (attempt, seconds) in [1, 2, 4, 8, 16, 32].into_iter().enumerate() {
            let wait = waits[attempt].unwrap_or(0);
            assert!((seconds * 1000..=seconds * 1250).contains(&wait), "{waits:?}");
        }
        assert_eq!(waits[6..], [None, None]);
    }
    #[test]
    fn in_an_hour_without_a_server_there_are_few_calls() {
        let (mut seconds, mut calls) = (0, 0);
        while seconds < 3600 {
            seconds += rest(calls).as_secs();
            calls += 1;
        }
        assert!((15..25).contains(&calls), "{calls}");
        assert_eq!(rest(u32::MAX), LONGEST_REST);
    }
}
