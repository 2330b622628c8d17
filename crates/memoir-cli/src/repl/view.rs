//! Shows a turn on the screen: a spinner with the current activity, and the answer as it streams.

use memoir_agent::{ToolOutcome, TurnEvent};
use memoir_core::reveal_on_one_line;
use memoir_redact::without_secrets;
use memoir_runtime::printable;

use crate::{
    answer_view::AnswerView,
    screen::{print_dimmed, print_dimmed_note},
    spinner::Spinner,
    trace::{self, Verbosity},
};

pub(super) struct TurnView {
    verbosity: Verbosity,
    spinner: Spinner,
    answer: AnswerView,
}

impl TurnView {
    pub(super) fn new(verbosity: Verbosity, spinner: Spinner) -> Self {
        Self { verbosity, spinner, answer: AnswerView::new() }
    }

    pub(super) fn show(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::RequestSent(request) => {
                self.finish();
                if let Some(text) = trace::request(request, self.verbosity) {
                    self.finish();
                    print_dimmed(&printable(&text));
                }
                self.spinner.show("thinking");
            }
            TurnEvent::Retrying { reason, wait } => {
                self.finish();
                note!("{}; retrying in {:.1} s", printable(&reason.to_string()), wait.as_secs_f64());
                self.spinner.show("waiting");
            }
            TurnEvent::Thinking(_) => self.spinner.show("reasoning"),
            TurnEvent::ApprovalRequested => self.finish(),
            TurnEvent::Text(text) => {
                self.answer.push(text, || self.spinner.stop());
                // A block is printed when it is complete. Until then, the spinner shows progress.
                if self.answer.has_pending_text() {
                    self.spinner.show("writing");
                }
            }
            TurnEvent::ToolStarted(call) => {
                self.finish();
                self.spinner.show(&format!("running {}", call.name));
            }
            TurnEvent::ToolProgress { call, text } => {
                let text = format!("running {}: {text}", call.name);
                self.spinner.show(&reveal_on_one_line(&without_secrets(&text)));
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
        self.spinner.stop();
        self.answer.finish(|| {});
    }
}
