//! `memoir -p`: one answer on stdout, everything else on stderr.

use std::io::{IsTerminal as _, Write as _, stdout};

use anstream::eprintln;
use memoir_agent::{TurnEvent, TurnReport};
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    args::OutputFormat,
    failure::Failure,
    output::{JsonResult, event_json},
};

/// Answers `prompt` and prints the answer as asked.
pub(crate) async fn answer(mut app: App, prompt: &str, format: OutputFormat) -> Result<(), Failure> {
    let outcome = run(&mut app, prompt, format).await;
    if let Err(failure) = &outcome
        && format != OutputFormat::Text
    {
        writeln!(stdout(), "{}", failure.to_json())?;
    }
    outcome
}

async fn run(app: &mut App, prompt: &str, format: OutputFormat) -> Result<(), Failure> {
    // Before anything can fail: the prompt is never lost.
    app.agent
        .store
        .append_command(prompt, app.agent.clock.now())
        .await?;
    let cancel = CancellationToken::new();
    let interrupted = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
        }
    });
    // A person watches the answer grow; a script gets it whole or not at all.
    let watched = format == OutputFormat::Text && stdout().is_terminal();
    let mut observer = |event: TurnEvent| observe(&event, format, watched);
    let report = app
        .agent
        .run_turn(&mut app.conversation, prompt, &mut observer, &cancel)
        .await?;
    print(&report, format, watched)
}

/// Shows an event. A reader that went away is noticed when the result is printed.
fn observe(event: &TurnEvent, format: OutputFormat, watched: bool) {
    match (format, event) {
        (OutputFormat::StreamJson, event) => {
            let _ = writeln!(stdout(), "{}", event_json(event));
        }
        (OutputFormat::Text, TurnEvent::Text(text)) if watched => {
            let _ = write!(stdout(), "{text}").and_then(|()| stdout().flush());
        }
        (_, TurnEvent::ToolStarted(call)) => {
            if watched {
                let _ = writeln!(stdout());
            }
            eprintln!("[{}]", call.name);
        }
        (_, TurnEvent::Notice(text)) => eprintln!("{text}"),
        _ => {}
    }
}

fn print(report: &TurnReport, format: OutputFormat, watched: bool) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match format {
        OutputFormat::Text if watched => writeln!(out)?,
        OutputFormat::Text => writeln!(out, "{}", report.text)?,
        OutputFormat::Json | OutputFormat::StreamJson => {
            let json = serde_json::to_string(&JsonResult::from(report)).map_err(std::io::Error::from)?;
            writeln!(out, "{json}")?;
        }
    }
    Ok(out.flush()?)
}
