//! A throw-away memory with the history of a made-up project: `memoir demo`.

use memoir_core::{Clock as _, SystemClock, Timestamp};
use memoir_import::{Thread, bring_in, memoir};
use memoir_recall::Recall;

use crate::{
    failure::{Failure, Kind},
    progress,
};

/// Three months of talk, made up for this.
const HISTORY: &str = include_str!("../demo/history.jsonl");

/// The project that it is about.
pub(crate) const SCOPE: &str = "lantern";

const DAY: i64 = 24 * 60 * 60 * 1000;
const WEEK: i64 = 7 * DAY;

/// Questions that the history answers.
pub(crate) const QUESTIONS: [&str; 3] = [
    "Why did we give up the slow long-range radio mode?",
    "Why did two boards reboot on the day we presented to the council?",
    "What did the mayor demand for bigger bills?",
];

/// Fills a memory, and has everything in it found.
pub(crate) async fn fill(recall: &Recall) -> Result<(), Failure> {
    let mut talk = memoir(HISTORY).map_err(|error| Failure::new(Kind::Failed, error.to_string()))?;
    shift(&mut talk.threads, SystemClock.now());
    for thread in &talk.threads {
        bring_in(recall.store.as_ref(), thread, false).await?;
    }
    let bar = progress::bar(recall.waiting().await?, "texts read");
    loop {
        match recall.catch_up().await? {
            0 => break,
            read => bar.inc(read as u64),
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Moves everything by whole weeks, so that weekdays stay what they are, and the last of it lies in the last week.
fn shift(threads: &mut [Thread], now: Timestamp) {
    let moments = || threads.iter().flat_map(|thread| thread.messages.iter().map(|message| message.created));
    let Some(last) = moments().max() else { return };
    let weeks = (now.as_millis() - DAY - last.as_millis()).div_euclid(WEEK);
    for message in threads.iter_mut().flat_map(|thread| &mut thread.messages) {
        message.created = Timestamp::from_millis(message.created.as_millis() + weeks * WEEK);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn the_history_ends_in_the_last_week_on_the_weekday_it_was_written_for() {
        let talk = memoir(HISTORY).unwrap();
        let last = |threads: &[Thread]| {
            threads
                .iter()
                .flat_map(|thread| &thread.messages)
                .map(|message| message.created.as_millis())
                .max()
                .unwrap()
        };
        let written = last(&talk.threads);
        for now in [0, 3 * DAY, 400 * WEEK + 5 * DAY + 1234] {
            let now = Timestamp::from_millis(written + now);
            let mut threads = talk.threads.clone();
            shift(&mut threads, now);
            let shifted = last(&threads);
            assert_eq!((shifted - written) % WEEK, 0);
            let ago = now.as_millis() - shifted;
            assert!((DAY..DAY + WEEK).contains(&ago), "{ago}");
        }
    }
}
