//! `memoir -p`: one answer on stdout, everything else on stderr.

use std::{
    io::{IsTerminal as _, Write as _, stdout},
    time::Duration,
};

use anstream::eprintln;
use memoir_agent::{TurnEvent, TurnReport};
use memoir_core::{ExchangeStatus, WorkerKind};
use memoir_redact::without_secrets;
use memoir_workers::{embed_for_a_while, prepare_digests};
use tokio_util::sync::CancellationToken;

use crate::{
    answer_view::AnswerView,
    app::App,
    args::OutputFormat,
    failure::{Failure, Kind},
    interrupts::Interrupts,
    output::{JsonResult, event_json},
    printable::printable,
    trace::{self, Verbosity},
};

/// How long a summary for the next time is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers `prompt` and prints the answer as asked.
pub(crate) async fn answer(mut app: App, prompt: &str, format: OutputFormat) -> Result<(), Failure> {
    app.share_out_work();
    app.workers.context().set_current(app.conversation.id());
    app.agent.tools = app.servers.join(&app.agent.tools).await;
    app.servers.take_notices().iter().for_each(|notice| eprintln!("{notice}"));
    let mut printer = Printer::new(format, app.verbosity);
    let cancel = CancellationToken::new();
    let mut observer = |event: TurnEvent| printer.observe(&event);
    let turn = app.agent.run_turn(&mut app.conversation, prompt, &mut observer, &cancel);
    let result = Interrupts::listen().cancelling(&cancel, turn).await;
    match result {
        Ok(report) => {
            let printed = printer.print(&report);
            // Ctrl-C ends the wait.
            tokio::select! {
                () = leave_in_order(&app) => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            printed
        }
        Err(error) => {
            printer.end_line();
            let failure = Failure::from(error);
            // It was paid for, so it is given out, even if it could not be kept.
            if let (OutputFormat::Text, Some(answer), Watching::No) =
                (format, &failure.answer, printer.watching)
            {
                writeln!(stdout(), "{answer}")?;
            }
            Err(failure)
        }
    }
}

/// Does what the next program would miss: nobody else is there to do it.
async fn leave_in_order(app: &App) {
    let office = app.workers.context();
    // What fails here is made up for later, or said then.
    if app.should_run(WorkerKind::ConversationSummarizer) {
        let _ = prepare_digests(office, PATIENCE).await;
    }
    if app.should_run(WorkerKind::EmbeddingGenerator) {
        let _ = match app.recall().embedder.is_local() {
            true => app.recall().catch_up().await.map(drop).map_err(drop),
            false => embed_for_a_while(office, PATIENCE / 2).await.map_err(drop),
        };
    }
}

/// A failure as scripts read it.
pub(crate) fn print_failure(failure: &Failure, format: OutputFormat) {
    if format != OutputFormat::Text {
        // If this cannot be written either, the exit code still tells.
        let _ = writeln!(stdout(), "{}", failure.to_json());
    }
}

/// Whether a person watches the answer grow; a script gets it whole or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watching {
    Yes,
    No,
}

struct Printer {
    format: OutputFormat,
    verbosity: Verbosity,
    watching: Watching,
    answer: AnswerView,
}

impl Printer {
    fn new(format: OutputFormat, verbosity: Verbosity) -> Self {
        let watched = format == OutputFormat::Text && stdout().is_terminal();
        let watching = if watched { Watching::Yes } else { Watching::No };
        Self { format, verbosity, watching, answer: AnswerView::new() }
    }

    /// Shows an event. A reader that went away is noticed when the result is printed.
    fn observe(&mut self, event: &TurnEvent) {
        if self.format == OutputFormat::StreamJson {
            let _ = writeln!(stdout(), "{}", event_json(event));
        }
        match event {
            TurnEvent::Text(text) if self.watching == Watching::Yes => {
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
        match (self.format, self.watching) {
            (OutputFormat::Text, Watching::Yes) => self.end_line(),
            // A turn that was stopped has no answer; why is said as the failure that it is.
            (OutputFormat::Text, Watching::No) if stopped => {}
            (OutputFormat::Text, Watching::No) => writeln!(stdout(), "{}", report.text)?,
            (OutputFormat::Json | OutputFormat::StreamJson, _) => {
                let json = serde_json::to_string(&JsonResult::from(report)).map_err(std::io::Error::from)?;
                writeln!(stdout(), "{json}")?;
            }
        }
        stdout().flush()?;
        if stopped {
            return Err(Failure::new(Kind::Stopped, report.text.clone())
                .hint("What the tools did is kept; go on with -c."));
        }
        Ok(())
    }
}
