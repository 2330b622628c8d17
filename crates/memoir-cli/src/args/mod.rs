//! Arguments of the `memoir` command line, as clap parses them.

mod chat;
mod documents;
mod import;
mod memory;
mod program;
mod serve;
mod tasks;

use std::path::PathBuf;

use clap::{
    CommandFactory as _, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};

use memoir_runtime::{Failure, most_similar};

pub(crate) use chat::ChatArgs;
pub(crate) use documents::{DocsCommand, PostArgs, WriteArgs};
pub(crate) use import::{ImportArgs, ImportCommand};
pub(crate) use memory::{
    BlockArgs, ConversationsCommand, ExchangeArgs, ExportArgs, ForgetArgs, MemoryCommand, RestoreArgs,
    SearchArgs,
};
pub(crate) use program::{
    ConfigCommand, ConnectArgs, EvalCommand, HookArgs, McpCommand, ModelsCommand, Script, ServedScope,
    WorkerCommand, model_name,
};
pub(crate) use serve::{OpenArgs, ServeArgs, ServeCommand, TokenCommand};
pub(crate) use tasks::{ScheduleCommand, TaskArgs, TaskName};

/// A terminal AI agent that remembers.
#[derive(Debug, Parser)]
#[command(name = "memoir", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Prompt to answer before exiting; without it, Memoir answers text on stdin or opens the REPL
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,

    /// Output format of the answer
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,

    #[command(flatten)]
    pub(crate) chat: ChatArgs,

    /// Only print lines, without colors and without redrawing any, for screen readers
    #[arg(long, global = true)]
    pub(crate) plain: bool,

    /// Words of a prompt, as an alternative to -p
    #[arg(value_name = "WORDS", conflicts_with = "prompt")]
    words: Vec<String>,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Args {
    /// Makes the words of the command line the prompt, and the options of `chat` those of the program.
    ///
    /// # Errors
    ///
    /// Fails if there is only one word, and it looks like a misspelled command.
    pub(crate) fn normalize(&mut self) -> Result<(), Failure> {
        if let Some(Command::Chat(_)) = &self.command
            && let Some(Command::Chat(chat)) = self.command.take()
        {
            self.chat = chat;
        }
        let words = std::mem::take(&mut self.words);
        let Some(first) = words.first() else { return Ok(()) };
        let commands = command_line();
        let names = commands.get_subcommands().map(clap::Command::get_name);
        // A quoted sentence is not a command.
        let similar = most_similar(first, names).filter(|_| !first.contains(char::is_whitespace));
        match (similar, words.len()) {
            (Some(command), 1) => {
                return Err(Failure::usage(format!("there is no command {first}"))
                    .hint(format!("Did you mean `memoir {command}`? Ask with `memoir -p {first}`.")));
            }
            (Some(command), _) => note!("Sent as a prompt. There is also a command `memoir {command}`."),
            (None, _) => {}
        }
        self.prompt = Some(words.join(" "));
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Only the text of the answer
    Text,
    /// One JSON object when the answer is complete
    Json,
    /// One JSON object per event, as it happens
    StreamJson,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open a conversation, as `memoir` without a command does
    Chat(ChatArgs),
    /// List models, show one or choose which one to use
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Show costs: of a conversation, today and in total, by purpose and model
    Cost {
        /// Conversation to report on; defaults to the latest in this project
        #[arg(long, value_name = "ID")]
        conversation: Option<i64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Search conversations and documents
    Search(SearchArgs),
    /// Try Memoir on a temporary memory with the history of a made-up project
    Demo {
        /// Question to answer; without it, the REPL opens
        question: Option<String>,
    },
    /// List conversations or show one
    Conversations {
        #[command(subcommand)]
        command: Option<ConversationsCommand>,
    },
    /// Show, search, edit, pin and delete memories
    Memory {
        #[command(subcommand)]
        command: Option<MemoryCommand>,
    },
    /// Add, list, show, remove and reindex documents
    #[command(subcommand)]
    Docs(DocsCommand),
    /// Write a post from a conversation or a period, and save it as a document
    Write(WriteArgs),
    /// Schedule tasks for a sub-agent, and manage them
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// Run scheduled tasks in the foreground until stopped; an open REPL runs them too
    Daemon {
        /// Print a systemd user unit and exit
        #[arg(long)]
        print_unit: bool,
    },
    /// Import conversations from other programs
    #[command(args_conflicts_with_subcommands = true)]
    Import {
        /// Store new exchanges of Claude Code, Codex, Gemini CLI and opencode as they appear, until Ctrl-C
        #[arg(long)]
        watch: bool,
        #[command(subcommand)]
        command: Option<ImportCommand>,
    },
    /// Export conversations, to read them elsewhere or import them again
    Export(ExportArgs),
    /// Back up the whole memory to a directory and verify the copy; safe while Memoir is in use
    Backup {
        /// Directory to create; defaults to a name with the current time, in this directory
        directory: Option<PathBuf>,
    },
    /// Replace the current memory with a backup; the replaced memory is kept next to it
    Restore(RestoreArgs),
    /// Salvage what is readable from a damaged memory; the damaged file is kept
    Repair {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the workers that summarize and embed messages
    #[command(subcommand)]
    Worker(WorkerCommand),
    /// Show and change settings
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// List, test, add and remove MCP servers, whose tools the model can use, and serve this memory
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Serve this memory to programs over HTTP: a REST API, MCP, and a proxy for their models
    #[command(args_conflicts_with_subcommands = true)]
    Serve {
        #[command(flatten)]
        options: ServeArgs,
        #[command(subcommand)]
        command: Option<ServeCommand>,
    },
    /// Open this memory in the browser, with a link that logs you in; starts the server if none is running
    Open(OpenArgs),
    /// Let Claude Code, Codex, Gemini CLI, Cursor, opencode, Zed, VS Code or Windsurf use this memory
    Connect(ConnectArgs),
    /// Answer an event of another program, described on stdin; `memoir connect` sets this up
    Hook(HookArgs),
    /// Show what was last added to a prompt of another program, and why
    Why {
        /// Maximum number of prompts
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Use the instructions, skills and config of this project
    Trust {
        /// Stop using them
        #[arg(long)]
        revoke: bool,
    },
    /// Check the installation and suggest a fix for each problem
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a shell completion script, or the man page
    Completions {
        /// Script to print
        #[arg(value_enum)]
        script: Script,
        /// Write a man page for every command to this directory
        #[arg(long, value_name = "DIRECTORY")]
        directory: Option<PathBuf>,
    },
    /// Measure the quality of recall
    #[command(subcommand)]
    Eval(EvalCommand),
}

/// Returns a parser that selects one of `all` by name. Completion and error messages list the names.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(name)).try_map(move |input| {
        all.into_iter().find(|value| name(*value) == input).ok_or("not one of the possible values")
    })
}

/// Returns the definition of the command line, with all subcommands.
pub fn command_line() -> clap::Command {
    Args::command()
}
