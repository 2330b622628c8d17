//! Progress bars, drawn on stderr if it is a terminal.

use std::time::Duration;

use indicatif::{
    HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use memoir_runtime::operations::{Progress, ProgressUnit};

use crate::{live::LiveView, screen::is_plain};

/// Time between two redraws of a bar that does not advance.
const TICK: Duration = Duration::from_millis(200);

/// Shows the progress of an operation, with one bar for each unit that it counts.
#[derive(Default)]
pub(crate) struct ProgressBars {
    /// Draws all bars, so that they do not overwrite each other.
    area: MultiProgress,
    bars: Vec<(ProgressUnit, ProgressBar)>,
}

impl ProgressBars {
    /// Updates the bar of a unit, and clears it when all work is done.
    pub(crate) fn show(&mut self, Progress { unit, done, total }: Progress) {
        let existing = self.bars.iter().position(|(other, _)| *other == unit);
        let bar = match existing {
            Some(index) => self.bars.swap_remove(index).1,
            None => new_bar(unit, total.unwrap_or(done), &self.area),
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

fn new_bar(unit: ProgressUnit, length: u64, area: &MultiProgress) -> ProgressBar {
    let counted = |unit| format!("{{bar:20}} {{pos}} of {{len}} {unit}{{pace}}{{time_left}}");
    let template = match unit {
        ProgressUnit::Bytes => "{bar:20} {bytes} of {total_bytes}{time_left}".to_owned(),
        ProgressUnit::Chunks => counted("chunks"),
        ProgressUnit::Conversations => counted("conversations"),
        ProgressUnit::Documents => counted("documents"),
        ProgressUnit::Files => counted("files"),
        ProgressUnit::Jobs => counted("jobs"),
    };
    if is_plain() {
        area.set_draw_target(ProgressDrawTarget::hidden());
    }
    let bar = area.add(ProgressBar::new(length));
    let Ok(style) = ProgressStyle::with_template(&template) else { return bar };
    // Before the first step, neither is known. Writing to the bar's own buffer cannot fail.
    let pace = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        if state.pos() > 0 {
            let _ = write!(out, ", {:.1} per second", state.per_sec());
        }
    };
    let time_left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        if state.pos() > 0 {
            let _ = write!(out, ", {} left", HumanDuration(state.eta()));
        }
    };
    bar.set_style(style.with_key("pace", pace).with_key("time_left", time_left));
    bar.enable_steady_tick(TICK);
    bar
}

/// Shows what a program is doing until `work` ends, for work whose progress is unknown.
pub(crate) async fn show_while<F: Future>(activity: &str, work: F) -> F::Output {
    let live = LiveView::new();
    live.show(activity);
    let output = work.await;
    live.finish();
    output
}
