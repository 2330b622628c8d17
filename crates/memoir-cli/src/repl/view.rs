//! A turn on the screen: a spinner with what is happening, the answer as it comes.

use std::time::Duration;

use anstream::{eprintln, println};
use indicatif::{ProgressBar, ProgressStyle};
use memoir_agent::{ToolOutcome, TurnEvent};
use memoir_redact::without_secrets;

use memoir_runtime::printable;

use crate::{
    answer_view::AnswerView,
    trace::{self, Verbosity},
};

pub(super) struct TurnView {
    verbosity: Verbosity,
    /// Shown while nothing is being written: both would use the same line.
    spinner: Option<ProgressBar>,
    answer: AnswerView,
}

impl TurnView {
    pub(super) fn new(verbosity: Verbosity) -> Self {
        Self { verbosity, spinner: None, answer: AnswerView::new() }
    }

    pub(super) fn show(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::RequestSent(request) => {
                self.finish();
                if let Some(sent) = trace::request(request, self.verbosity) {
                    self.finish();
                    println!("{}", dim(&printable(&sent)));
                }
                self.spin("thinking");
            }
            TurnEvent::Retrying { reason, wait } => {
                self.finish();
                eprintln!("{}; trying again in {:.1} s", printable(&reason.to_string()), wait.as_secs_f64());
                self.spin("waiting");
            }
            TurnEvent::Thinking(_) => self.spin("reasoning"),
            TurnEvent::Asking => self.finish(),
            TurnEvent::Text(text) => {
                let spinner = &mut self.spinner;
                self.answer.push(text, || stop(spinner));
                // A block is shown when it is whole; until then it is seen that one comes.
                if self.answer.is_waiting() {
                    self.spin("writing");
                }
            }
            TurnEvent::ToolStarted(call) => {
                self.finish();
                self.spin(&format!("running {}", call.name));
            }
            TurnEvent::ToolFinished { call, outcome } => {
                self.finish();
                let mark = match outcome {
                    ToolOutcome::Succeeded => "",
                    ToolOutcome::Failed => " (failed)",
                    ToolOutcome::Refused => " (not allowed)",
                };
                let line = trace::tool_call(call, self.verbosity);
                println!("{}", dim(&format!("[{}]{mark}", printable(&line))));
            }
            TurnEvent::Notice(text) => {
                self.finish();
                eprintln!("{}", printable(&without_secrets(text)));
            }
            TurnEvent::Detail(text) => {
                if self.verbosity.level() >= 1 {
                    self.finish();
                    eprintln!("{}", dim(&printable(text)));
                }
            }
        }
    }

    /// Leaves the cursor at the start of a line of its own.
    pub(super) fn finish(&mut self) {
        stop(&mut self.spinner);
        self.answer.finish(|| {});
    }

    /// Says what is happening, and for how long.
    fn spin(&mut self, what: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(what.to_owned());
            return;
        }
        let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            spinner.set_style(style);
        }
        spinner.enable_steady_tick(Duration::from_millis(100));
        self.spinner = Some(spinner);
    }
}

fn stop(spinner: &mut Option<ProgressBar>) {
    if let Some(spinner) = spinner.take() {
        spinner.finish_and_clear();
    }
}

/// Text that should not draw the eye.
pub(super) fn dim(text: &str) -> String {
    let style = anstyle::Style::new().dimmed();
    format!("{style}{text}{style:#}")
}
