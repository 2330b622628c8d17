//! The command line.

use std::path::PathBuf;

use clap::{ArgAction, Parser, Subcommand, ValueEnum};

use crate::settings::Task;

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
    pub(crate) add_dir: Vec<std::path::PathBuf>,

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
    Search {
        /// What to look for
        query: String,
        /// Only what was said from this day on: 2026-05-01, yesterday, "last week", "in May"
        #[arg(long, value_name = "DATE")]
        since: Option<String>,
        /// Only what was said in this project
        #[arg(long, value_name = "DIRECTORY")]
        scope: Option<PathBuf>,
        /// At most so many
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// What is remembered: forgetting it
    #[command(subcommand)]
    Memory(MemoryCommand),
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
    #[command(subcommand)]
    Import(ImportCommand),
    /// Summarise and index what was said
    #[command(subcommand)]
    Worker(WorkerCommand),
    /// Measure how good memory is
    #[command(subcommand)]
    Eval(EvalCommand),
}

/// What can be done with memory.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Forget something with everything derived from it: vectors, words, summaries, posts; says first what that is
    Forget(ForgetArgs),
}

/// What is forgotten.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").args(["message", "exchange", "conversation", "document"]).multiple(false))]
pub(crate) struct ForgetArgs {
    /// A message
    #[arg(long, value_name = "ID")]
    pub(crate) message: Option<i64>,
    /// An exchange
    #[arg(long, value_name = "ID")]
    pub(crate) exchange: Option<i64>,
    /// A conversation
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<i64>,
    /// A document, by its name or number
    #[arg(long, value_name = "NAME")]
    pub(crate) document: Option<String>,
    /// Everything that was said from this day on
    #[arg(long, value_name = "DATE", conflicts_with = "what")]
    pub(crate) since: Option<String>,
    /// Everything that was said up to the end of this day
    #[arg(long, value_name = "DATE", conflicts_with = "what")]
    pub(crate) until: Option<String>,
    /// Say what would be forgotten, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What can be done with documents.
#[derive(Debug, Subcommand)]
pub(crate) enum DocsCommand {
    /// Add files, or the .md and .txt files of folders; what has not changed is not read again
    Add {
        /// Files and folders
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// List all documents
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one document
    Show {
        /// Its name or number
        name: String,
        /// Print JSON, with its chunks
        #[arg(long)]
        json: bool,
    },
    /// Forget documents with everything derived from them; files are left alone, but for posts
    Remove {
        /// Their names or numbers
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Read documents anew: cut them as is set now, and make their vectors again
    Reindex {
        /// Their names or numbers; all if left out
        names: Vec<String>,
    },
}

/// What a post is written from, and by whom.
#[derive(Debug, clap::Args)]
pub(crate) struct WriteArgs {
    /// The conversation; the last of this project if neither this nor a time is given
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<i64>,
    /// Only what was said from this day on: 2026-05-01, yesterday, "last week", "in May"
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Only what was said up to the end of this day
    #[arg(long, value_name = "DATE")]
    pub(crate) until: Option<String>,
    /// Say what would be sent, and neither send nor save anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Who writes, as provider/model or a bare name
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Tell how related posts are looked for
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// What can be done with tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// Add a task
    Add(Box<TaskArgs>),
    /// List all tasks, with when they are due
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one task
    Show {
        /// Its name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a task now, and show its report
    Run {
        /// Its name
        name: String,
    },
    /// Have a task wait
    Pause {
        /// Its name
        name: String,
    },
    /// Have a task go on
    Resume {
        /// Its name
        name: String,
    },
    /// Remove a task, with its runs and what it remembers of them
    Remove {
        /// Its name
        name: String,
    },
    /// Show the last runs of a task, with their reports
    History {
        /// Its name
        name: String,
        /// At most so many
        #[arg(long, default_value_t = 10)]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// A task to be added.
#[derive(Debug, clap::Args)]
pub(crate) struct TaskArgs {
    /// Its name: letters, numbers, - and _
    pub(crate) name: String,
    /// What is to be done
    #[arg(required = true, num_args = 1..)]
    pub(crate) prompt: Vec<String>,
    /// When, again and again: minute, hour, day, month, weekday; six fields begin with seconds
    #[arg(long, value_name = "LINE", conflicts_with = "once")]
    pub(crate) cron: Option<String>,
    /// When, once: 2026-05-01 09:00
    #[arg(long, value_name = "MOMENT")]
    pub(crate) once: Option<String>,
    /// The time zone of the clock, as in Europe/Berlin; this machine's if left out
    #[arg(long)]
    pub(crate) zone: Option<String>,
    /// Who does it; whoever answers if left out
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// What it may do, since nobody can be asked: read-only, ask (what rules allow), auto-edit or full
    #[arg(long, value_name = "MODE", default_value = "read-only")]
    pub(crate) approval: String,
    /// What it may do besides: execute_bash(git status), file_edit(notes/**); may be given several times, and needs another mode than read-only
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// How long a run may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub(crate) timeout: u64,
    /// How many of its last runs it remembers
    #[arg(long, value_name = "RUNS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) history: u32,
    /// What a run may cost, in dollars
    #[arg(long, value_name = "USD")]
    pub(crate) budget: Option<f64>,
    /// The project that it works in; this one if left out
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dir: Option<PathBuf>,
}

/// What can be brought in.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// A chat that WhatsApp exported as text: a conversation for each day
    Whatsapp {
        /// The file
        file: PathBuf,
        /// What the chat is called; what the file is called if left out
        #[arg(long)]
        name: Option<String>,
        /// Which number of a date comes first; told by the dates if left out
        #[arg(long, value_enum)]
        dates: Option<Dates>,
        /// Say what would be added, and add nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// Which number of a date comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dates {
    /// 31/12/2023
    Day,
    /// 12/31/2023
    Month,
    /// 2023-12-31
    Year,
}

/// What workers can be told.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// Do the work here and now
    Run {
        /// Do everything that is due, then end
        #[arg(long, required = true)]
        until_idle: bool,
    },
}

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// How well recall finds what answers a question, on a file of conversations and questions
    Recall {
        /// The file
        data: PathBuf,
        /// Where to write what was found, a line of JSON per question
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Which ways of finding are used
        #[arg(long, value_enum, default_value_t = EvalMode::Hybrid)]
        mode: EvalMode,
        /// Stages and terms to leave out, to see what they add
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        without: Vec<String>,
    },
}

/// Which ways of finding are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalMode {
    /// Words and meaning
    Hybrid,
    /// Meaning alone
    Dense,
    /// Words alone
    Keyword,
}

/// What can be done with models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List what the catalogue knows
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one model
    Show {
        /// Its name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set the model that is used from now on
    Set {
        /// Its name; "auto" goes back to choosing by itself
        name: String,
        /// What it is used for
        #[arg(long = "for", value_name = "TASK", value_enum, default_value_t = Task::Chat)]
        task: Task,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Args::command().debug_assert();
    }
}
