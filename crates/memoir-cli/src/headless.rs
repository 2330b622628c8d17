//! `memoir -p`: prints one answer to stdout and everything else to stderr.

use std::io::{IsTerminal as _, Write as _, stdout};

use memoir_agent::{TurnEvent, TurnReport};
use memoir_core::{ExchangeStatus, TurnInput};
use memoir_redact::without_secrets;
use memoir_runtime::{Failure, FailureKind, printable};
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    args::OutputFormat,
    interrupts::Interrupts,
    live::LiveView,
    trace::{self, Verbosity},
};

/// Answers `input` and prints the answer in `format`.
pub(crate) async fn answer(mut app: App, input: TurnInput, format: OutputFormat) -> Result<(), Failure> {
    let mut printer = Printer::new(format, app.verbosity);
    let cancel = CancellationToken::new();
    let mut observer = |event: TurnEvent| printer.observe(&event);
    let turn = app.session.turn(input, &mut observer, &cancel);
    let result = Interrupts::listen().cancel_on_interrupt(&cancel, turn).await;
    match result {
        Ok(report) => {
            let print_result = printer.print(&report);
            // Ctrl-C skips the wait for background work.
            tokio::select! {
                () = app.session.finish_turn() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            print_result
        }
        Err(error) => {
            printer.end_line();
            let failure = Failure::from(error);
            // The answer was paid for, so print it even though it could not be saved.
            if let (OutputFormat::Text, Some(answer), false) = (format, &failure.answer, printer.is_streaming)
            {
                writeln!(stdout(), "{answer}")?;
            }
            Err(failure)
        }
    }
}

/// Prints a failure as JSON if the output format is JSON.
pub(crate) fn print_failure(failure: &Failure, format: OutputFormat) {
    if format != OutputFormat::Text {
        // If stdout is closed, the exit code still reports the failure.
        let _ = writeln!(stdout(), "{}", failure.to_json());
    }
}

struct Printer {
    format: OutputFormat,
    verbosity: Verbosity,
    /// Whether to print the answer while it streams. A script gets the complete answer or nothing.
    is_streaming: bool,
    answer: LiveView,
}

impl Printer {
    fn new(format: OutputFormat, verbosity: Verbosity) -> Self {
        let is_streaming = format == OutputFormat::Text && stdout().is_terminal();
        Self { format, verbosity, is_streaming, answer: LiveView::new() }
    }

    /// Shows an event. Write errors are ignored here; a closed stdout is detected when the result is printed.
    fn observe(&mut self, event: &TurnEvent) {
        if self.format == OutputFormat::StreamJson {
            let _ = writeln!(stdout(), "{}", serde_json::to_string(event).unwrap_or_default());
        }
        match event {
            TurnEvent::Text(text) if self.is_streaming => {
                self.answer.push(text);
            }
            TurnEvent::RequestSent(request) => {
                if let Some(text) = trace::request(request, self.verbosity) {
                    self.print_notice(&text);
                }
            }
            TurnEvent::Retrying { reason, wait } => {
                self.print_notice(&format!("{reason}; retrying in {:.1} s", wait.as_secs_f64()));
            }
            TurnEvent::ToolStarted(call) => {
                self.print_notice(&format!("[{}]", trace::tool_call(call, self.verbosity)))
            }
            TurnEvent::Notice(text) => self.print_notice(text),
            TurnEvent::Detail(text) if self.verbosity.level() >= 1 => self.print_notice(text),
            TurnEvent::Text(_)
            | TurnEvent::Detail(_)
            | TurnEvent::Thinking(_)
            | TurnEvent::ApprovalRequested
            | TurnEvent::ToolProgress { .. }
            | TurnEvent::ToolPrinted { .. }
            | TurnEvent::ToolFinished { .. } => {}
        }
    }

    fn print_notice(&mut self, text: &str) {
        self.end_line();
        note!("{}", printable(&without_secrets(text)));
    }

    fn end_line(&mut self) {
        self.answer.finish();
    }

    fn print(&mut self, report: &TurnReport) -> Result<(), Failure> {
        let is_stopped = report.status == ExchangeStatus::Stopped;
        match (self.format, self.is_streaming) {
            (OutputFormat::Text, true) => self.end_line(),
            // A stopped turn has no answer. The failure returned below contains the reason.
            (OutputFormat::Text, false) if is_stopped => {}
            (OutputFormat::Text, false) => writeln!(stdout(), "{}", report.text)?,
            (OutputFormat::Json | OutputFormat::StreamJson, _) => {
                let json = serde_json::to_string(report).map_err(std::io::Error::from)?;
                writeln!(stdout(), "{json}")?;
            }
        }
        stdout().flush()?;
        if is_stopped {
            return Err(Failure::new(FailureKind::Stopped, report.text.clone())
                .hint("The results of the tool calls are saved. Resume with `memoir -c`."));
        }
        Ok(())
    }
}
