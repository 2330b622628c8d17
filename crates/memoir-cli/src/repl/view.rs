//! A turn on the screen: a spinner with what is happening, the answer as it comes.

use std::{
    io::{Write as _, stdout},
    time::Duration,
};

use anstream::{eprintln, println};
use indicatif::{ProgressBar, ProgressStyle};
use memoir_agent::{ToolOutcome, TurnEvent};

pub(super) struct TurnView {
    spinner: ProgressBar,
    /// Whether the cursor stands behind the last character of an unfinished line.
    mid_line: bool,
}

impl TurnView {
    pub(super) fn start() -> Self {
        let spinner = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            spinner.set_style(style);
        }
        spinner.enable_steady_tick(Duration::from_millis(100));
        Self {
            spinner,
            mid_line: false,
        }
    }

    pub(super) fn show(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::RequestSent => self.spinner.set_message("thinking"),
            TurnEvent::Thinking(_) => self.spinner.set_message("reasoning"),
            TurnEvent::Text(text) => self.write(text),
            TurnEvent::ToolStarted(call) => {
                self.end_line();
                self.spinner.set_message(format!("running {}", call.name));
            }
            TurnEvent::ToolFinished { name, outcome } => {
                let mark = match outcome {
                    ToolOutcome::Succeeded => "",
                    ToolOutcome::Failed => " (failed)",
                };
                self.spinner
                    .suspend(|| println!("{}", dim(&format!("[{name}]{mark}"))));
            }
            TurnEvent::Notice(text) => {
                self.end_line();
                self.spinner.suspend(|| eprintln!("{text}"));
            }
        }
    }

    /// Ends the turn's display.
    pub(super) fn finish(&mut self) {
        self.end_line();
        self.spinner.finish_and_clear();
    }

    /// Writes more of the answer. While a line is open the spinner keeps still: both would use the same line.
    fn write(&mut self, text: &str) {
        if !self.mid_line {
            self.spinner.disable_steady_tick();
            self.spinner
                .set_draw_target(indicatif::ProgressDrawTarget::hidden());
        }
        let _ = write!(stdout(), "{text}").and_then(|()| stdout().flush());
        self.mid_line = !text.ends_with('\n');
    }

    fn end_line(&mut self) {
        if self.mid_line {
            println!();
            self.mid_line = false;
        }
        if self.spinner.is_hidden() {
            self.spinner
                .set_draw_target(indicatif::ProgressDrawTarget::stderr());
            self.spinner.enable_steady_tick(Duration::from_millis(100));
        }
    }
}

/// Text that should not draw the eye.
pub(super) fn dim(text: &str) -> String {
    let style = anstyle::Style::new().dimmed();
    format!("{style}{text}{style:#}")
}
