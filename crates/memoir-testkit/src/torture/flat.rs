//! A program that stays open for long. What it holds is told by Linux alone.

use std::path::Path;

use crate::{Reply, ScriptedProvider, Terminal, TestHome};

/// The sitting is looked at so often.
const TIMES: usize = 10;

/// So much more it may hold at the end than in its middle, in kB: what comes and goes with the work in the background,
/// and for every turn the vectors and codes of its messages.
const SLACK: u64 = 10_000;
const FOR_EACH_TURN: u64 = 1;

/// What was seen.
#[derive(Debug)]
pub struct FlatReport {
    /// How much it held after each tenth of the sitting, in kB.
    pub held: Vec<u64>,
    turns: usize,
}

impl FlatReport {
    /// How much more it held after one tenth than after another, in kB; the first is 1.
    pub fn grew(&self, from: usize, to: usize) -> u64 {
        self.held[to - 1].saturating_sub(self.held[from - 1])
    }

    /// By how much it grew in the last half of the sitting, if that is too much.
    pub fn too_much(&self) -> Option<String> {
        let (grew, half) = (self.grew(TIMES / 2, TIMES), self.turns as u64 / 2);
        let most = SLACK + half * FOR_EACH_TURN;
        (grew > most).then(|| {
            format!("it grew by {grew} kB in {half} turns, and {most} kB were to be expected at most")
        })
    }
}

/// Watches what the program holds during `turns` turns in one sitting; ten at least. A new conversation begins now and
/// then, as people begin them.
pub fn flat(binary: &Path, turns: usize) -> FlatReport {
    let home = TestHome::new(binary);
    let provider = ScriptedProvider::always(Reply::text("Yes, and noted."));
    let terminal = Terminal::open(&home, Some(&provider), (24, 80), &[]);
    terminal.wait_for_prompt();
    let mut held = Vec::new();
    for turn in 0..turns {
        if turn % 50 == 49 {
            terminal.submit("/new");
            terminal.wait_for("Started a new conversation");
        }
        terminal.submit(&format!("Turn {turn} is about something."));
        terminal.wait_for_prompt();
        // What was recorded is of no use here, and would be all that grows.
        provider.clear();
        if (turn + 1) % (turns / TIMES) == 0 {
            held.push(terminal.resident_kilobytes());
        }
    }
    assert!(
        held.len() >= TIMES && held.iter().all(|held| *held > 0),
        "it was not seen what it holds: {held:?}"
    );
    FlatReport { held, turns }
}
