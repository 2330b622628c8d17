//! Progress bars, drawn on stderr if it is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use memoir_runtime::operations::{Progress, ProgressUnit};

use crate::screen::is_plain;

/// Shows the progress of an operation, with one bar for each unit that it counts.
#[derive(Default)]
pub(crate) struct ProgressBars {
    bars: Vec<(ProgressUnit, ProgressBar)>,
}

impl ProgressBars {
    /// Updates the bar of a unit, and clears it when all work is done.
    pub(crate) fn show(&mut self, Progress { unit, done, total }: Progress) {
        let existing = self.bars.iter().position(|(other, _)| *other == unit);
        let bar = match existing {
            Some(index) => self.bars.swap_remove(index).1,
            None => new_bar(unit, total.unwrap_or(done)),
        };
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(done);
        if total == Some(done) {
            bar.finish_and_clear();
        } else {
            self.bars.push((unit, bar));
        }
    }
}

impl Drop for ProgressBars {
    fn drop(&mut self) {
        // A failed operation does not report completion.
        self.bars.iter().for_each(|(_, bar)| bar.finish_and_clear());
    }
}

fn new_bar(unit: ProgressUnit, length: u64) -> ProgressBar {
    match unit {
        ProgressUnit::Bytes => styled(ProgressBar::new(length), "{bar:30} {bytes} of {total_bytes} {eta}"),
        ProgressUnit::Chunks => bar(length, "chunks"),
        ProgressUnit::Conversations => bar(length, "conversations"),
        ProgressUnit::Documents => bar(length, "documents"),
        ProgressUnit::Files => bar(length, "files"),
        ProgressUnit::Jobs => bar(length, "jobs"),
    }
}

fn bar(length: u64, unit: &str) -> ProgressBar {
    styled(ProgressBar::new(length), &format!("{{bar:30}} {{pos}} of {{len}} {unit} {{eta}}"))
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    if is_plain() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
