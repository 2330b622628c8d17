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
mod line;
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
mod summarizer;
mod tools;
mod verbosity;
mod version;
mod why;
mod worker;
mod write;

use clap::{CommandFactory as _, Parser, Subcommand};
use memoir_core::TurnInput;
use memoir_runtime::{Failure, Persistence};

use crate::app::App;

pub(crate) use line::resolve;

/// What the REPL does after a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Prompt,
    /// Sends this prompt, as if it had been typed.
    Ask(TurnInput),
    Quit,
}

/// The arguments of a slash command, and what it does with them.
trait RunCommand {
    /// Whether it reads or writes a memory that outlives the program.
    const NEEDS_MEMORY: bool = false;

    /// Runs the command. Its output goes to stdout.
    async fn run(self, app: &mut App) -> Result<Next, Failure>;
}

/// Declares the list of commands: one line each, in the order in which help shows them.
macro_rules! slash_commands {
    ($($(#[$attribute:meta])* $variant:ident($arguments:ty),)+) => {
        /// A slash command.
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
                    // Boxed, so that the longest command does not size the future of every other.
                    $(Self::$variant(arguments) => Box::pin(arguments.run(app)).await,)+
                }
            }
        }
    };
}

// To add a command, write its file and add its line here. The doc comment is its summary in help.
slash_commands! {
    /// Show all commands, or how one is used.
    Help(help::Arguments),
    /// End this conversation and begin another; core memory stays.
    New(new::Arguments),
    /// Go on with a conversation; without its number, choose.
    Resume(resume::Arguments),
    /// Branch off here, and leave this conversation as it is.
    Fork(fork::Arguments),
    /// Ask the last prompt again; the new answer replaces the old.
    Retry(retry::Arguments),
    /// Copy the last answer, or the last code in it.
    Copy(copy::Arguments),
    /// Clear the screen; the conversation goes on (/new ends it).
    Clear(clear::Arguments),
    /// Show the last N exchanges of this conversation (10).
    History(history::Arguments),
    /// Show who answers, or let another model answer from now on.
    Model(model::Arguments),
    /// List the known models, show one, or set one for a task.
    Models(models::Arguments),
    /// Switch recall on or off, change how memory is asked, try it.
    Rag(rag::Arguments),
    /// Show what memory put into the last prompt, and why.
    Why(why::Arguments),
    /// Show what is sent, layer by layer; change how much.
    Context(context::Arguments),
    /// Show, edit, search, pin and forget what is remembered.
    Memory(memory::Arguments),
    /// How the user wants the model to be: list, use, create.
    Persona(persona::Arguments),
    /// Whether exchanges and conversations are summarised.
    Summarizer(summarizer::Arguments),
    /// Whether messages get their vectors; make all of them anew.
    Embeddings(embeddings::Arguments),
    /// Documents: files that are remembered, and posts.
    Docs(docs::Arguments),
    /// Write a post from this conversation, another, or a time.
    Write(write::Arguments),
    /// Tasks that a sub-agent does at their time.
    Schedule(schedule::Arguments),
    /// Show what tasks have reported since you last looked.
    Inbox(inbox::Arguments),
    /// Bring in histories of other agents; alone, show those found.
    Import(import::Arguments),
    /// Write this conversation to a file, or show it.
    Export(export::Arguments),
    /// Copy the whole memory into a folder, and check the copy.
    Backup(backup::Arguments),
    /// Show what was spent: here, today, by purpose and model.
    Cost(cost::Arguments),
    /// Show who works in the background, start, stop, try again.
    Worker(worker::Arguments),
    /// Show the model, the conversation and the memory.
    Info(info::Arguments),
    /// Show the tools that the model may use.
    Tools(tools::Arguments),
    /// Who may do what: the mode, and rules that allow or deny.
    Approval(approval::Arguments),
    /// Show which secrets were taken out of what is kept, and why.
    Redaction(redaction::Arguments),
    /// Group messages that have no exchange; safe to repeat.
    MigrateExchanges(migrate_exchanges::Arguments),
    /// How much to show: 0 tool names to 4 all that is sent.
    Verbosity(verbosity::Arguments),
    /// Show the version.
    Version(version::Arguments),
    /// Leave; Ctrl-D does the same.
    Exit(exit::Arguments),
}

/// A line that begins with a slash.
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

/// Returns every slash command with its arguments, in the order in which help shows them.
pub fn all() -> clap::Command {
    let mut all = SlashLine::command();
    all.build();
    all
}

/// Runs the command in `line`, which begins with a slash.
pub(crate) async fn run(line: &str, app: &mut App) -> Result<Next, Failure> {
    let words = line::split(line, &all())?;
    let name = words.first().cloned().unwrap_or_default();
    let SlashLine { command } =
        SlashLine::try_parse_from(words).map_err(|error| line::refusal(&name, &error))?;
    if command.needs_memory() && app.session.runtime.persistence() == Persistence::Incognito {
        return Err(Failure::usage(format!("/{name} needs a memory, and this conversation has none"))
            .hint("Start memoir without --incognito."));
    }
    command.run(app).await
}
