//! Shows a turn on the screen: a spinner with the current activity, and the answer as it streams.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use memoir_agent::{ToolOutcome, TurnEvent};
use memoir_redact::without_secrets;
use memoir_runtime::printable;

use crate::{
    answer_view::AnswerView,
    screen::{print_dimmed, print_dimmed_note},
    trace::{self, Verbosity},
};

pub(super) struct TurnView {
    verbosity: Verbosity,
    /// Visible only while no text is printed, because both use the same line.
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
                if let Some(text) = trace::request(request, self.verbosity) {
                    self.finish();
                    print_dimmed(&printable(&text));
                }
                self.spin("thinking");
            }
            TurnEvent::Retrying { reason, wait } => {
                self.finish();
                note!("{}; retrying in {:.1} s", printable(&reason.to_string()), wait.as_secs_f64());
                self.spin("waiting");
            }
            TurnEvent::Thinking(_) => self.spin("reasoning"),
            TurnEvent::ApprovalRequested => self.finish(),
            TurnEvent::Text(text) => {
                let spinner = &mut self.spinner;
                self.answer.push(text, || stop(spinner));
                // A block is printed when it is complete. Until then, the spinner shows progress.
                if self.answer.has_pending_text() {
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
                    ToolOutcome::Refused => " (denied)",
                };
                let line = trace::tool_call(call, self.verbosity);
                print_dimmed(&format!("[{}]{mark}", printable(&line)));
            }
            TurnEvent::Notice(text) => {
                self.finish();
                note!("{}", printable(&without_secrets(text)));
            }
            TurnEvent::Detail(text) => {
                if self.verbosity.level() >= 1 {
                    self.finish();
                    print_dimmed_note(&printable(text));
                }
            }
        }
    }

    /// Prints the rest of the answer and moves the cursor to the start of an empty line.
    pub(super) fn finish(&mut self) {
        stop(&mut self.spinner);
        self.answer.finish(|| {});
    }

    /// Shows a spinner with the current activity and its duration.
    fn spin(&mut self, activity: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(activity.to_owned());
            return;
        }
        let spinner = ProgressBar::new_spinner().with_message(activity.to_owned());
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
