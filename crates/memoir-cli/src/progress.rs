//! Progress bars, drawn on stderr if it is a terminal.

use std::time::{Duration, Instant};

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use memoir_runtime::operations::{Progress, ProgressUnit};

use crate::{
    echo::EchoMode,
    live::LiveView,
    screen::{is_plain, text_width},
};

/// Time between two redraws of a bar that does not advance.
const TICK: Duration = Duration::from_millis(200);

/// Time between two lines of progress for a screen reader.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Width below which a bar is short and leaves out the unit and the rate.
const NARROW: usize = 72;

/// Shows the progress of an operation, with one bar for each unit that it counts.
#[derive(Default)]
pub(crate) struct ProgressBars {
    /// Draws all bars, so that they do not overwrite each other.
    area: MultiProgress,
    bars: Vec<(ProgressUnit, ProgressBar)>,
    /// When a line was last printed, for screen readers.
    last_line: Option<Instant>,
    /// Keeps typed keys and `^C` out of the bars, which fill their lines.
    echo: Option<EchoMode>,
}

impl ProgressBars {
    /// Updates the bar of a unit, and clears it when all work is done.
    pub(crate) fn show(&mut self, Progress { unit, done, total }: Progress) {
        if is_plain() {
            return self.print(unit, done, total);
        }
        self.echo.get_or_insert_with(EchoMode::off);
        let existing = self.bars.iter().position(|(other, _)| *other == unit);
        let bar = match existing {
            Some(index) => self.bars.swap_remove(index).1,
            None => new_bar(unit, done, total.unwrap_or(done), &self.area),
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

    /// Prints a line from time to time, because a screen reader would read a bar again at every step.
    fn print(&mut self, unit: ProgressUnit, done: u64, total: Option<u64>) {
        let is_due = self.last_line.is_none_or(|last| last.elapsed() >= LINE_INTERVAL);
        if !is_due || total == Some(done) {
            return;
        }
        self.last_line = Some(Instant::now());
        let name = unit_name(unit);
        match total {
            Some(total) => note!("{done} of {total} {name}"),
            None => note!("{done} {name}"),
        }
    }
}

impl Drop for ProgressBars {
    fn drop(&mut self) {
        // A failed operation does not report completion.
        self.bars.iter().for_each(|(_, bar)| bar.finish_and_clear());
    }
}

fn new_bar(unit: ProgressUnit, done: u64, length: u64, area: &MultiProgress) -> ProgressBar {
    let bar = area.add(ProgressBar::new(length));
    let Ok(style) = ProgressStyle::with_template(&template(unit, text_width())) else { return bar };
    // The average since the start. A shorter memory would lead to absurd figures between two large steps.
    let rate = move |state: &ProgressState| {
        let steps = state.pos().saturating_sub(done);
        (steps > 0).then(|| steps as f64 / state.elapsed().as_secs_f64().max(f64::EPSILON))
    };
    // Before the first step, neither is known. Writing to the bar's own buffer cannot fail.
    let pace = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        if let Some(rate) = rate(state) {
            let _ = write!(out, ", {rate:.1} per second");
        }
    };
    let time_left = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        if let Some(rate) = rate(state) {
            let rest = state.len().unwrap_or_default().saturating_sub(state.pos());
            let _ = write!(out, ", {:#} left", HumanDuration(Duration::from_secs_f64(rest as f64 / rate)));
        }
    };
    bar.set_style(style.with_key("pace", pace).with_key("time_left", time_left));
    bar.enable_steady_tick(TICK);
    bar
}

/// Returns the template of a bar that fits into a line of the terminal. A narrow one has no room for the unit and the rate.
fn template(unit: ProgressUnit, width: usize) -> String {
    let is_narrow = width < NARROW;
    let name = unit_name(unit);
    match unit {
        ProgressUnit::Bytes if is_narrow => "{bar:6} {bytes} of {total_bytes}{time_left}".to_owned(),
        ProgressUnit::Bytes => "{bar:16} {bytes} of {total_bytes}{time_left}".to_owned(),
        _ if is_narrow => "{bar:6} {pos} of {len}{time_left}".to_owned(),
        _ => format!("{{bar:10}} {{pos}} of {{len}} {name}{{pace}}{{time_left}}"),
    }
}

fn unit_name(unit: ProgressUnit) -> &'static str {
    match unit {
        ProgressUnit::Bytes => "bytes",
        ProgressUnit::Chunks => "chunks",
        ProgressUnit::Conversations => "conversations",
        ProgressUnit::Documents => "documents",
        ProgressUnit::Files => "files",
        ProgressUnit::Jobs => "jobs",
    }
}

/// Shows what a program is doing until `work` ends, for work whose progress is unknown.
pub(crate) async fn show_while<F: Future>(activity: &str, work: F) -> F::Output {
    let live = LiveView::new();
    live.show(activity);
    let output = work.await;
    live.finish();
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fit_into_a_line() {
        for (width, expected) in [
            (40, "{bar:6} {pos} of {len}{time_left}"),
            (80, "{bar:10} {pos} of {len} conversations{pace}{time_left}"),
        ] {
            assert_eq!(template(ProgressUnit::Conversations, width), expected);
        }
        // The longest values that are likely.
        for (width, line) in [
            (40, "123456 123456 of 999999, 59m left"),
            (72, "1234567890 30000 of 30000 conversations, 1234.5 per second, 59m left"),
        ] {
            assert!(line.len() < width, "{line}");
        }
    }
}
