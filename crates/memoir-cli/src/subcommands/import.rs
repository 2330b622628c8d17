//! `memoir import` and `/import`: import conversations from other programs.

use memoir_core::TimeZone;
use memoir_runtime::{
    Failure, Runtime,
    environment::Environment,
    operations::import::{self, FollowReport, HistoryFormat, ImportReport, ImportRequest},
};
use memoir_store::{Conversations, Exchanges, Imports, Transcripts};

use crate::{
    args::{ImportArgs, ImportCommand},
    progress::ProgressBars,
    render,
};

/// Imports histories, or lists those found on this machine.
pub(crate) async fn run(
    command: ImportCommand,
    environment: &Environment,
    store: &(impl Conversations + Exchanges + Imports + Transcripts + ?Sized),
    zone: &TimeZone,
) -> Result<(), Failure> {
    let Some(request) = request(command) else {
        let report = import::find_histories(environment, store).await?;
        return render::print(&render::import::histories(&report));
    };
    let mut bars = ProgressBars::default();
    let mut progress = |progress| bars.show(progress);
    let report = import::import(&request, environment, store, zone, &mut progress).await?;
    drop(bars);
    show(&report)
}

/// Stores new exchanges of other programs until Ctrl-C.
pub(super) async fn watch(runtime: &Runtime) -> Result<(), Failure> {
    let environment = &runtime.models().environment;
    note!("Following the sessions of other programs. Press Ctrl-C to stop.");
    let mut observe = |report: FollowReport| {
        if report.messages > 0 {
            note!("{}", render::import::followed(&report));
        }
    };
    import::watch(environment, runtime.store().as_ref(), runtime.zone(), &mut observe).await
}

/// Returns the import request, or `None` to list histories.
fn request(command: ImportCommand) -> Option<ImportRequest> {
    let (source, ImportArgs { paths, dry_run }) = match command {
        ImportCommand::Found => return None,
        ImportCommand::Whatsapp { file, name, dates, dry_run } => {
            let request = ImportRequest::new(HistoryFormat::WhatsApp, vec![file]);
            return Some(ImportRequest { name, dates, dry_run, ..request });
        }
        ImportCommand::Aichat(arguments) => (HistoryFormat::AiChat, arguments.into()),
        ImportCommand::Chatgpt(arguments) => (HistoryFormat::ChatGpt, arguments),
        ImportCommand::Claude(arguments) => (HistoryFormat::Claude, arguments),
        ImportCommand::ClaudeCode(arguments) => (HistoryFormat::ClaudeCode, arguments.into()),
        ImportCommand::Codex(arguments) => (HistoryFormat::Codex, arguments.into()),
        ImportCommand::Copilot(arguments) => (HistoryFormat::Copilot, arguments.into()),
        ImportCommand::Cursor(arguments) => (HistoryFormat::Cursor, arguments.into()),
        ImportCommand::Gemini(arguments) => (HistoryFormat::Gemini, arguments),
        ImportCommand::GeminiCli(arguments) => (HistoryFormat::GeminiCli, arguments.into()),
        ImportCommand::Llm(arguments) => (HistoryFormat::Llm, arguments.into()),
        ImportCommand::Memoir(arguments) => (HistoryFormat::Memoir, arguments),
        ImportCommand::OpenWebui(arguments) => (HistoryFormat::OpenWebUi, arguments),
        ImportCommand::Opencode(arguments) => (HistoryFormat::OpenCode, arguments.into()),
    };
    Some(ImportRequest { dry_run, ..ImportRequest::new(source, paths) })
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
