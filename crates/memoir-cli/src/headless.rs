//! `memoir -p`: one answer on stdout, everything else on stderr.

use std::io::{IsTerminal as _, Write as _, stdout};

use anstream::eprintln;
use memoir_agent::{TurnEvent, TurnReport};
use memoir_core::{ExchangeStatus, TurnInput};
use memoir_redact::without_secrets;
use tokio_util::sync::CancellationToken;

use memoir_runtime::{Failure, FailureKind, printable};

use crate::{
    answer_view::AnswerView,
    app::App,
    args::OutputFormat,
    interrupts::Interrupts,
    trace::{self, Verbosity},
};

/// Answers `input` and prints the answer as asked.
pub(crate) async fn answer(mut app: App, input: TurnInput, format: OutputFormat) -> Result<(), Failure> {
    let mut printer = Printer::new(format, app.verbosity);
    let cancel = CancellationToken::new();
    let mut observer = |event: TurnEvent| printer.observe(&event);
    let turn = app.session.turn(input, &mut observer, &cancel);
    let result = Interrupts::listen().cancelling(&cancel, turn).await;
    match result {
        Ok(report) => {
            let printed = printer.print(&report);
            // Ctrl-C ends the wait.
            tokio::select! {
                () = app.session.background.finish_turn(app.session.runtime.persistence()) => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            printed
        }
        Err(error) => {
            printer.end_line();
            let failure = Failure::from(error);
            // It was paid for, so it is given out, even if it could not be kept.
            if let (OutputFormat::Text, Some(answer), false) = (format, &failure.answer, printer.is_watched) {
                writeln!(stdout(), "{answer}")?;
            }
            Err(failure)
        }
    }
}

/// A failure as scripts read it.
pub(crate) fn print_failure(failure: &Failure, format: OutputFormat) {
    if format != OutputFormat::Text {
        // If this cannot be written either, the exit code still tells.
        let _ = writeln!(stdout(), "{}", failure.to_json());
    }
}

struct Printer {
    format: OutputFormat,
    verbosity: Verbosity,
    /// Whether a person watches the answer grow; a script gets it whole or not at all.
    is_watched: bool,
    answer: AnswerView,
}

impl Printer {
    fn new(format: OutputFormat, verbosity: Verbosity) -> Self {
        let is_watched = format == OutputFormat::Text && stdout().is_terminal();
        Self { format, verbosity, is_watched, answer: AnswerView::new() }
    }

    /// Shows an event. A reader that went away is noticed when the result is printed.
    fn observe(&mut self, event: &TurnEvent) {
        if self.format == OutputFormat::StreamJson {
            let _ = writeln!(stdout(), "{}", serde_json::to_string(event).unwrap_or_default());
        }
        match event {
            TurnEvent::Text(text) if self.is_watched => {
                self.answer.push(text, || {});
            }
            TurnEvent::RequestSent(request) => {
                if let Some(sent) = trace::request(request, self.verbosity) {
                    self.say(&sent);
                }
            }
            TurnEvent::Retrying { reason, wait } => {
                self.say(&format!("{reason}; trying again in {:.1} s", wait.as_secs_f64()));
            }
            TurnEvent::ToolStarted(call) => {
                self.say(&format!("[{}]", trace::tool_call(call, self.verbosity)))
            }
            TurnEvent::Notice(text) => self.say(text),
            TurnEvent::Detail(text) if self.verbosity.level() >= 1 => self.say(text),
            TurnEvent::Text(_)
            | TurnEvent::Detail(_)
            | TurnEvent::Thinking(_)
            | TurnEvent::Asking
            | TurnEvent::ToolFinished { .. } => {}
        }
    }

    fn say(&mut self, text: &str) {
        self.end_line();
        eprintln!("{}", printable(&without_secrets(text)));
    }

    fn end_line(&mut self) {
        self.answer.finish(|| {});
    }

    fn print(&mut self, report: &TurnReport) -> Result<(), Failure> {
        let stopped = report.status == ExchangeStatus::Stopped;
        match (self.format, self.is_watched) {
            (OutputFormat::Text, true) => self.end_line(),
            // A turn that was stopped has no answer; why is said as the failure that it is.
            (OutputFormat::Text, false) if stopped => {}
            (OutputFormat::Text, false) => writeln!(stdout(), "{}", report.text)?,
            (OutputFormat::Json | OutputFormat::StreamJson, _) => {
                let json = serde_json::to_string(report).map_err(std::io::Error::from)?;
                writeln!(stdout(), "{json}")?;
            }
        }
        stdout().flush()?;
        if stopped {
            return Err(Failure::new(FailureKind::Stopped, report.text.clone())
                .hint("What the tools did is kept; go on with -c."));
        }
        Ok(())
    }
}
