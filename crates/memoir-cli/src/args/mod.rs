//! The command line.

mod documents;
mod import;
mod memory;
mod program;
mod tasks;

use std::path::PathBuf;

use clap::{
    ArgAction, CommandFactory as _, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};

pub(crate) use documents::{DocsCommand, PostArgs, WriteArgs};
pub(crate) use import::ImportCommand;
pub(crate) use memory::{
    BlockArgs, ConversationsCommand, ExchangeArgs, ExportArgs, ForgetArgs, MemoryCommand, RestoreArgs,
    SearchArgs,
};
pub(crate) use program::{ConfigCommand, EvalCommand, ModelsCommand, Script, WorkerCommand, model_name};
pub(crate) use tasks::{ScheduleCommand, TaskArgs, TaskName};

/// A terminal AI agent that remembers.
#[derive(Debug, Parser)]
#[command(name = "memoir", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Answer once and exit; without it, text on stdin is answered, and a terminal opens the REPL
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,

    /// How an answer is printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,

    /// Go on with the last conversation of this project
    #[arg(short, long = "continue", conflicts_with = "resume")]
    pub(crate) continue_last: bool,

    /// Go on with conversation ID; without ID, choose one
    #[arg(short, long, value_name = "ID", num_args = 0..=1)]
    pub(crate) resume: Option<Option<i64>>,

    /// Branch off the conversation that -c or -r names, and leave that as it is
    #[arg(long)]
    pub(crate) fork: bool,

    /// Neither read nor write memory: nothing of this conversation is kept
    #[arg(long, conflicts_with_all = ["continue_last", "resume", "fork"])]
    pub(crate) incognito: bool,

    /// Who answers, as provider/model or a bare name
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Show more: -v parameters of tools, -vv all of them, -vvv what is sent, -vvvv the tools' schemas too
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// What tools may do without asking: read-only, ask, auto-edit or full; without a terminal, what would be asked is refused
    #[arg(long, value_name = "MODE")]
    pub(crate) approval: Option<String>,

    /// A further folder that tools may work in; may be given several times
    #[arg(long, value_name = "FOLDER")]
    pub(crate) add_dir: Vec<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer alone
    Text,
    /// One JSON object when the answer is complete
    Json,
    /// One JSON object per event, as it happens
    StreamJson,
}

/// What there is besides talking.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The models: what is known of them, and which one is used
    #[command(subcommand)]
    Models(ModelsCommand),
    /// What was spent: in a conversation, today, in all, by purpose and model
    Cost {
        /// The conversation to tell of; the last of this project if left out
        #[arg(long, value_name = "ID")]
        conversation: Option<i64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Look for something in everything that was said
    Search(SearchArgs),
    /// Open a throw-away memory with the history of a made-up project, to ask things of
    Demo {
        /// What to ask; without it, a terminal opens
        question: Option<String>,
    },
    /// The conversations: listing them, showing one
    Conversations {
        #[command(subcommand)]
        command: Option<ConversationsCommand>,
    },
    /// What is remembered: showing, searching, editing, pinning and forgetting it
    Memory {
        #[command(subcommand)]
        command: Option<MemoryCommand>,
    },
    /// Documents: files that are remembered, and posts
    #[command(subcommand)]
    Docs(DocsCommand),
    /// Write a post from a conversation or a time, and file it as a document
    Write(WriteArgs),
    /// Tasks that a sub-agent does at their time
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// Run what is due, in the foreground, until told to stop; an open REPL does so too
    Daemon {
        /// Print a unit for the user's systemd, and end
        #[arg(long)]
        print_unit: bool,
    },
    /// Bring in talk from other programs
    Import {
        #[command(subcommand)]
        command: Option<ImportCommand>,
    },
    /// Write down what was said, to read it elsewhere or to bring it in again
    Export(ExportArgs),
    /// Copy the whole memory into a folder, while it may be in use, and check the copy
    Backup {
        /// The folder to make; named after the moment in this directory if left out
        folder: Option<PathBuf>,
    },
    /// Put a backup in the place of this memory, which is kept beside it
    Restore(RestoreArgs),
    /// Summarise and index what was said
    #[command(subcommand)]
    Worker(WorkerCommand),
    /// What is set, and where
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Check that everything is as it should be, and say what to do where it is not
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a script that completes this program's arguments in a shell, or its man page
    Completions {
        /// Which
        #[arg(value_enum)]
        script: Script,
    },
    /// Measure how good memory is
    #[command(subcommand)]
    Eval(EvalCommand),
}

/// Parses one of `all` by its name. Completion and error messages list the names.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(name)).try_map(move |typed| {
        all.into_iter().find(|value| name(*value) == typed).ok_or("it is not one of the possible values")
    })
}

/// Returns the command line with all its subcommands.
pub fn command_line() -> clap::Command {
    Args::command()
}

/// Returns the manual page.
pub fn man_page() -> String {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(command_line()).render(&mut page);
    String::from_utf8_lossy(&page).into_owned()
}
