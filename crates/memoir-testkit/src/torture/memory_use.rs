//! Measures the memory use of a long session. Requires Linux.

use std::path::Path;

use crate::{Reply, ScriptedProvider, Terminal, TestHome};

/// Number of measurements, spread evenly over the session.
const SAMPLES: usize = 10;

/// Growth in kB that is allowed between the middle and the end of the session, because background work comes and goes.
const SLACK: u64 = 10_000;
/// Additional growth in kB that is allowed for each turn, for the index entries of its messages.
const GROWTH_PER_TURN: u64 = 1;

/// Memory use during a session.
#[derive(Debug)]
pub struct MemoryUseReport {
    /// Resident memory after each tenth of the session, in kB.
    pub resident: Vec<u64>,
    turns: usize,
}

impl MemoryUseReport {
    /// Returns the growth in kB between two samples, which are numbered from 1.
    pub fn growth(&self, from: usize, to: usize) -> u64 {
        self.resident[to - 1].saturating_sub(self.resident[from - 1])
    }

    /// Describes the growth in the second half of the session if it exceeds the limit.
    pub fn excess(&self) -> Option<String> {
        let (growth, half) = (self.growth(SAMPLES / 2, SAMPLES), self.turns as u64 / 2);
        let limit = SLACK + half * GROWTH_PER_TURN;
        (growth > limit)
            .then(|| format!("memory use grew by {growth} kB in {half} turns; the limit is {limit} kB"))
    }
}

/// Measures memory use during `turns` turns in one session, at least ten. Starts a new conversation from time to time.
pub fn measure_memory_use(binary: &Path, turns: usize) -> MemoryUseReport {
    let home = TestHome::new(binary);
    let provider = ScriptedProvider::always(Reply::text("Yes, and noted."));
    let terminal = Terminal::open(&home, Some(&provider), (24, 80), &[]);
    terminal.wait_for_prompt();
    let mut resident = Vec::new();
    for turn in 0..turns {
        if turn % 50 == 49 {
            terminal.submit("/new");
            terminal.wait_for("Started a new conversation");
        }
        terminal.submit(&format!("Turn {turn} is about something."));
        terminal.wait_for_prompt();
        // Recorded requests would accumulate, and are not needed here.
        provider.clear();
        if (turn + 1) % (turns / SAMPLES) == 0 {
            resident.push(terminal.resident_kilobytes());
        }
    }
    assert!(
        resident.len() >= SAMPLES && resident.iter().all(|kilobytes| *kilobytes > 0),
        "could not measure the memory use: {resident:?}"
    );
    MemoryUseReport { resident, turns }
}
