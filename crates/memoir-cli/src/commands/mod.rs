//! Slash commands: one file each, registered in one list.

mod approval;
mod backup;
mod clear;
mod compact;
mod config;
mod context;
mod copy;
mod cost;
mod docs;
mod doctor;
mod embeddings;
mod exit;
mod export;
mod fork;
mod help;
mod history;
mod import;
mod inbox;
mod info;
mod init;
mod last;
mod line;
mod mcp;
mod memory;
mod migrate_exchanges;
mod model;
mod models;
mod new;
mod persona;
mod rag;
mod redaction;
mod resume;
mod retry;
mod schedule;
mod search;
mod server_prompt;
mod summarizer;
mod tools;
mod undo;
mod verbosity;
mod version;
mod why;
mod worker;
mod write;

use clap::{CommandFactory as _, Parser, Subcommand};
use memoir_core::TurnInput;
use memoir_runtime::{Failure, Persistence, Runtime};

use crate::app::App;

pub(crate) use line::resolve;
pub(crate) use resume::show_latest;

/// The next step of the REPL after a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Prompt,
    /// Send this prompt as if the user had typed it, as `/retry` does.
    Ask(TurnInput),
    Quit,
}

/// A slash command, implemented by its arguments.
trait RunCommand {
    /// Whether the command needs a memory that persists. It then fails in incognito mode.
    const NEEDS_MEMORY: bool = false;

    /// Runs the command. Its output goes to stdout.
    async fn run(self, app: &mut App) -> Result<Next, Failure>;
}

/// Declares the list of commands, in the order of `/help`.
macro_rules! slash_commands {
    ($($(#[$attribute:meta])* $variant:ident($arguments:ty),)+) => {
        #[derive(Debug, Subcommand)]
        enum SlashCommand {
            $($(#[$attribute])* $variant($arguments),)+
        }

        impl SlashCommand {
            fn needs_memory(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$arguments as RunCommand>::NEEDS_MEMORY,)+
                }
            }

            async fn run(self, app: &mut App) -> Result<Next, Failure> {
                match self {
                    // Boxed to keep the size of this future independent of the largest command.
                    $(Self::$variant(arguments) => Box::pin(arguments.run(app)).await,)+
                }
            }
        }
    };
}

// To add a command, write its file and add its line here. The doc comment is its summary in `/help`.
slash_commands! {
    /// List all commands, or show how to use one.
    Help(help::Arguments),
    /// Start a new conversation; core memory stays.
    New(new::Arguments),
    /// Resume a conversation; without its ID, choose from a list.
    Resume(resume::Arguments),
    /// Fork this conversation, and leave the original unchanged.
    Fork(fork::Arguments),
    /// Send the last prompt again and replace its answer.
    Retry(retry::Arguments),
    /// Take back the last prompt and its answer.
    Undo(undo::Arguments),
    /// Copy the last answer, or its last code block.
    Copy(copy::Arguments),
    /// Summarize this conversation, so that requests become shorter.
    Compact(compact::Arguments),
    /// Clear the screen; the conversation continues (see /new).
    Clear(clear::Arguments),
    /// Show the latest exchanges of this conversation.
    History(history::Arguments),
    /// Show the current model, or switch to another.
    Model(model::Arguments),
    /// List the known models, show one, or set one for a task.
    Models(models::Arguments),
    /// Switch recall on or off, change its settings, or test it.
    Rag(rag::Arguments),
    /// Show what recall added to the last prompt, and why.
    Why(why::Arguments),
    /// Show the size of each context layer, or change settings.
    Context(context::Arguments),
    /// Search conversations and documents.
    Search(search::Arguments),
    /// Show, search, edit, pin and delete memories.
    Memory(memory::Arguments),
    /// List, use, create and edit personas (named instructions).
    Persona(persona::Arguments),
    /// Switch summaries on or off.
    Summarizer(summarizer::Arguments),
    /// Switch embedding on or off, or rebuild all embeddings.
    Embeddings(embeddings::Arguments),
    /// Add, list, show, remove and reindex documents.
    Docs(docs::Arguments),
    /// Write a post from a conversation or a period.
    Write(write::Arguments),
    /// Schedule tasks for a sub-agent, and manage them.
    Schedule(schedule::Arguments),
    /// Show unread reports of scheduled tasks.
    Inbox(inbox::Arguments),
    /// Import histories of other agents, or list those found.
    Import(import::Arguments),
    /// Export this conversation to a file, or show it.
    Export(export::Arguments),
    /// Back up the whole memory to a directory.
    Backup(backup::Arguments),
    /// Show costs: here, today and in total, by purpose and model.
    Cost(cost::Arguments),
    /// Show, start, stop and pause workers; retry failed jobs.
    Worker(worker::Arguments),
    /// Show the model, the conversation and the memory.
    #[command(alias = "status")]
    Info(info::Arguments),
    /// Show the whole output of the last tool call.
    Last(last::Arguments),
    /// List the tools that the model may use.
    Tools(tools::Arguments),
    /// Show the MCP servers, their tools and their problems.
    Mcp(mcp::Arguments),
    /// Show or change the approval mode and permission rules.
    Approval(approval::Arguments),
    /// Show and change settings.
    Config(config::Arguments),
    /// Write a first AGENTS.md for this project, after asking.
    Init(init::Arguments),
    /// Check the installation and suggest fixes.
    Doctor(doctor::Arguments),
    /// Show which secrets were redacted, and why.
    Redaction(redaction::Arguments),
    /// Group messages without an exchange; safe to repeat.
    #[command(hide = true)]
    MigrateExchanges(migrate_exchanges::Arguments),
    /// Set the verbosity, 0 to 4; 3 shows whole requests.
    Verbosity(verbosity::Arguments),
    /// Show the version.
    Version(version::Arguments),
    /// Exit; Ctrl-D does the same.
    #[command(alias = "quit")]
    Exit(exit::Arguments),
}

/// An input line that starts with a slash.
#[derive(Debug, Parser)]
#[command(
    name = "/",
    no_binary_name = true,
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true
)]
struct SlashLine {
    #[command(subcommand)]
    command: SlashCommand,
}

/// Returns every slash command with its arguments, in the order of `/help`.
pub fn all() -> clap::Command {
    let mut all = SlashLine::command();
    all.build();
    all
}

/// Returns the commands that help and completion list.
pub(crate) fn listed(all: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    all.get_subcommands().filter(|command| !command.is_hide_set())
}

/// Runs the slash command in `line`.
pub(crate) async fn run(line: &str, app: &mut App) -> Result<Next, Failure> {
    if let Some(prompt) = server_prompt::expand(line, app).await? {
        return Ok(Next::Ask(prompt));
    }
    let words = line::split(line, &all())?;
    let name = words.first().cloned().unwrap_or_default();
    let SlashLine { command } =
        SlashLine::try_parse_from(words).map_err(|error| line::parse_failure(&name, &error))?;
    if command.needs_memory() {
        check_memory(&name, &app.session.runtime)?;
    }
    command.run(app).await
}

/// Fails if the whole memory is not on this machine.
fn check_memory(name: &str, runtime: &Runtime) -> Result<(), Failure> {
    if let Some(hub) = runtime.hub() {
        return Err(Failure::usage(format!("/{name} needs the whole memory, which is on another machine"))
            .hint(format!("Open {} in a browser.", hub.url())));
    }
    match runtime.persistence() {
        Persistence::Incognito => {
            Err(Failure::usage(format!("/{name} needs memory, which is off in incognito mode"))
                .hint("Start Memoir without `--incognito`."))
        }
        Persistence::Permanent | Persistence::Demo | Persistence::Hub => Ok(()),
    }
}
