//! A program that stays open for long.

use std::path::Path;

use crate::{Home, Reply, ScriptedProvider, Terminal};

/// How much the program holds after a third of `turns` turns in one sitting, and after all of them, in kB. A new conversation begins now and
/// then, as people begin them.
pub fn flat(binary: &Path, turns: usize) -> (u64, u64) {
    let home = Home::new(binary);
    let provider = ScriptedProvider::always(Reply::text("Yes, and noted."));
    let terminal = Terminal::open(&home, Some(&provider), (24, 80), &[]);
    terminal.wait_for_prompt();
    let mut early = 0;
    for turn in 0..turns {
        if turn % 50 == 49 {
            terminal.type_keys("/new\r");
            terminal.wait_for("A new conversation.");
            terminal.wait_for_prompt();
        }
        terminal.type_keys(&format!("Turn {turn} is about something.\r"));
        let asked = format!("> Turn {turn} is about something.");
        terminal.wait_until("the answer", |screen| {
            screen
                .split(&asked)
                .nth(1)
                .is_some_and(|after| after.contains("Yes, and noted.") && after.trim_end().ends_with('>'))
        });
        // What was recorded is of no use here, and would be all that grows.
        provider.clear();
        if turn == turns / 3 {
            early = terminal.resident_kilobytes();
        }
    }
    (early, terminal.resident_kilobytes())
}
