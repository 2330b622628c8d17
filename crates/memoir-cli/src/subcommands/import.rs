//! `memoir import` and `/import`: import conversations from other programs.

use memoir_core::TimeZone;
use memoir_runtime::{
    Failure,
    environment::Environment,
    operations::import::{self, ImportReport, ImportRequest, ImportSource},
};
use memoir_store::{Conversations, Exchanges, Imports};

use crate::{args::ImportCommand, progress::ProgressBars, render};

/// Imports histories, or lists those found on this machine.
pub(crate) async fn run(
    command: ImportCommand,
    environment: &Environment,
    store: &(impl Conversations + Exchanges + Imports + ?Sized),
    zone: &TimeZone,
) -> Result<(), Failure> {
    let Some(request) = request(command) else {
        let report = import::find_histories(environment, store).await?;
        return render::print(&render::import::histories(&report));
    };
    let mut bars = ProgressBars::default();
    let mut progress = |progress| bars.show(progress);
    show(&import::import(&request, environment, store, zone, &mut progress).await?)
}

/// Returns the import request, or `None` to list histories.
fn request(command: ImportCommand) -> Option<ImportRequest> {
    let (source, dry_run) = match command {
        ImportCommand::Found => return None,
        ImportCommand::Aichat(arguments) => {
            (ImportSource::AiChat { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Chatgpt(arguments) => {
            (ImportSource::ChatGpt { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Claude(arguments) => {
            (ImportSource::Claude { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Memoir(arguments) => {
            (ImportSource::Memoir { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::ClaudeCode(arguments) => {
            (ImportSource::ClaudeCode { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Codex(arguments) => {
            (ImportSource::Codex { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Copilot(arguments) => {
            (ImportSource::Copilot { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Cursor(arguments) => {
            (ImportSource::Cursor { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Gemini(arguments) => {
            (ImportSource::Gemini { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Llm(arguments) => (ImportSource::Llm { paths: arguments.paths }, arguments.dry_run),
        ImportCommand::OpenWebui(arguments) => {
            (ImportSource::OpenWebUi { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Opencode(arguments) => {
            (ImportSource::OpenCode { paths: arguments.paths }, arguments.dry_run)
        }
        ImportCommand::Whatsapp { file, name, dates, dry_run } => {
            (ImportSource::WhatsApp { file, name, dates }, dry_run)
        }
    };
    Some(ImportRequest { source, dry_run })
}

/// Prints the result of an import, and skipped files on stderr. Fails if no file could be read.
fn show(report: &ImportReport) -> Result<(), Failure> {
    let failure = report.unreadable.last().filter(|_| report.files_read == 0);
    // If there was only one file, the failure already reports it.
    if failure.is_none() || report.unreadable.len() > 1 {
        for file in &report.unreadable {
            note!("Skipped: {}", Failure::from(file).sentence());
        }
    }
    match failure {
        Some(file) => Err(file.into()),
        None => render::print(&render::import::report(report)),
    }
}
