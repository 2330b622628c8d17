//! The retry schedule of failed jobs and failing workers.

use std::time::Duration;

use memoir_core::Timestamp;

/// Number of attempts after which a job has failed permanently.
const MAX_ATTEMPTS: u32 = 7;

/// Returns when to retry a job that had failed `attempts` times before this failure, or `None` to give up. The delay is
/// 1, 2, 4, 8, 16 and 32 seconds, plus up to a quarter of jitter to spread out retries.
pub(crate) fn next_attempt(attempts: u32, now: Timestamp) -> Option<Timestamp> {
    if attempts + 1 >= MAX_ATTEMPTS {
        return None;
    }
    let wait = 1000_i64 << attempts;
    let jitter = now.as_millis().unsigned_abs() % (wait.unsigned_abs() / 4);
    Some(Timestamp::from_millis(now.as_millis() + wait + i64::try_from(jitter).unwrap_or(0)))
}

/// Maximum time that a worker rests after a failure.
const MAX_REST: Duration = Duration::from_secs(300);

/// Returns how long a worker rests after a failure: one second, doubled for each of `earlier_failures` in a row.
pub(crate) fn rest(earlier_failures: u32) -> Duration {
    Duration::from_secs(1 << earlier_failures.min(16)).min(MAX_REST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_until_the_job_has_failed() {
        let now = 1_700_000_000_000;
        let waits: Vec<Option<i64>> = (0..8)
            .map(|attempts| {
                next_attempt(attempts, Timestamp::from_millis(now)).map(|due| due.as_millis() - now)
            })
            .collect();
        for (attempt, seconds) in [1, 2, 4, 8, 16, 32].into_iter().enumerate() {
            let wait = waits[attempt].unwrap_or(0);
            assert!((seconds * 1000..=seconds * 1250).contains(&wait), "{waits:?}");
        }
        assert_eq!(waits[6..], [None, None]);
    }

    #[test]
    fn an_unreachable_server_gets_few_calls_per_hour() {
        let (mut seconds, mut calls) = (0, 0);
        while seconds < 3600 {
            seconds += rest(calls).as_secs();
            calls += 1;
        }
        assert!((15..25).contains(&calls), "{calls}");
        assert_eq!(rest(u32::MAX), MAX_REST);
    }
}
