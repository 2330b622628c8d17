//! Slash commands: one file each, one list.

mod approval;
mod backup;
mod clear;
mod context;
mod copy;
mod cost;
mod docs;
mod embeddings;
mod exit;
mod export;
mod fork;
mod help;
mod history;
mod import;
mod inbox;
mod info;
mod memory;
mod migrate_exchanges;
mod model;
mod models;
mod new;
mod parsing;
mod persona;
mod rag;
mod redaction;
mod resume;
mod retry;
mod schedule;
mod summarizer;
mod tools;
mod verbosity;
mod version;
mod why;
mod worker;
mod write;

use async_trait::async_trait;
use memoir_core::TurnInput;

use crate::{
    app::{App, Kept},
    failure::{Failure, Kind},
};

/// What the REPL does after a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Prompt,
    /// Asks this, as if it had been typed.
    Ask(TurnInput),
    Quit,
}

/// A slash command.
#[async_trait]
pub(crate) trait Command: Send + Sync {
    /// Its name, without the slash.
    fn name(&self) -> &'static str;

    /// Its arguments, as they are written in help.
    fn arguments(&self) -> &'static str {
        ""
    }

    /// What it does, in one line.
    fn summary(&self) -> &'static str;

    /// Whether it would read or write a memory that outlives the program.
    fn needs_memory(&self) -> bool {
        false
    }

    /// Does it. What it has to say goes to stdout.
    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure>;
}

/// Every command, in the order in which help shows them. To add one, write its file and add its line here.
pub(crate) const ALL: &[&dyn Command] = &[
    &help::Help,
    &new::New,
    &resume::Resume,
    &fork::Fork,
    &retry::Retry,
    &copy::Copy,
    &clear::Clear,
    &history::History,
    &model::Model,
    &models::Models,
    &rag::Rag,
    &why::Why,
    &context::Context,
    &memory::Memory,
    &persona::Persona,
    &summarizer::Summarizer,
    &embeddings::Embeddings,
    &docs::Docs,
    &write::Write,
    &schedule::Schedule,
    &inbox::Inbox,
    &import::Import,
    &export::Export,
    &backup::Backup,
    &cost::Cost,
    &worker::Worker,
    &info::Info,
    &tools::Tools,
    &approval::Approval,
    &redaction::Redaction,
    &migrate_exchanges::MigrateExchanges,
    &verbosity::SetVerbosity,
    &version::Version,
    &exit::Exit,
];

/// `/name arguments`.
pub(crate) fn usage(command: &dyn Command) -> String {
    format!("/{} {}", command.name(), command.arguments()).trim_end().to_owned()
}

/// Runs the command in `line`, which begins with a slash.
pub(crate) async fn run(line: &str, app: &mut App) -> Result<Next, Failure> {
    let line = line.trim().trim_start_matches('/');
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let command = find(name)?;
    if command.needs_memory() && app.kept == Kept::Never {
        return Err(Failure::new(
            Kind::Usage,
            format!("/{} needs a memory, and this conversation has none", command.name()),
        )
        .hint("Start memoir without --incognito."));
    }
    command.run(arguments.trim(), app).await
}

/// The command of this name, or the only one whose name begins so.
pub(crate) fn find(name: &str) -> Result<&'static dyn Command, Failure> {
    if let Some(exact) = ALL.iter().find(|command| command.name() == name) {
        return Ok(*exact);
    }
    let matching: Vec<_> =
        ALL.iter().filter(|command| !name.is_empty() && command.name().starts_with(name)).collect();
    match matching.as_slice() {
        [only] => Ok(**only),
        [] => {
            Err(Failure::new(Kind::Usage, format!("there is no command /{name}"))
                .hint("/help lists them all."))
        }
        several => {
            let names: Vec<_> = several.iter().map(|command| format!("/{}", command.name())).collect();
            Err(Failure::new(Kind::Usage, format!("/{name} could be {}", names.join(" or ")))
                .hint("Type one more letter."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Result<&'static str, String> {
        find(name).map(|command| command.name()).map_err(|failure| failure.sentence())
    }

    #[test]
    fn a_unique_beginning_is_enough() {
        assert_eq!(found("help"), Ok("help"));
        assert_eq!(found("n"), Ok("new"));
        assert_eq!(found("mi"), Ok("migrate-exchanges"));
        assert_eq!(
            found("model"),
            Ok("model"),
            "a whole name is that command, even where another begins with it"
        );
        assert_eq!(found("h"), Err("/h could be /help or /history. Type one more letter.".into()));
        assert_eq!(found("xyz"), Err("there is no command /xyz. /help lists them all.".into()));
        assert_eq!(found(""), Err("there is no command /. /help lists them all.".into()));
    }

    #[test]
    fn help_fits_a_terminal() {
        // With what stands below it, and the prompt.
        const { assert!(help::PAGE + 4 <= 24) };
        for command in ALL {
            assert!(command.summary().len() <= 62, "{}", command.name());
        }
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::HashSet<_> = ALL.iter().map(|command| command.name()).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
