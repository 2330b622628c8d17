//! Arguments of the commands for models, workers, evaluation, settings and shell completion.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use memoir_connect::Host;
use memoir_runtime::{operations::eval::SearchMode, settings::ModelTask};
use memoir_serve::hook::HookHost;

use super::one_of;
use crate::completion_source::{ValueSource, complete_settings};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// Run the workers in the foreground
    Run {
        /// Exit when no work is left
        #[arg(long, required = true)]
        until_idle: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Measure how well recall finds the answers to questions, using files of conversations and questions
    Recall {
        /// Files with conversations and questions
        #[arg(required = true)]
        data: Vec<PathBuf>,
        /// File to write the results to, one line of JSON per question
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Search mode: hybrid uses keywords and embeddings, dense only embeddings, keyword only keywords
        #[arg(long, default_value = "hybrid", value_parser = one_of(SearchMode::ALL, SearchMode::as_str))]
        mode: SearchMode,
        /// Recall stages and score terms to disable, to measure their effect
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        without: Vec<String>,
    },
    /// Measure how often memory answers correctly without a language model
    Answers {
        /// File with histories and cases
        data: PathBuf,
        /// Measure only this half of the data, such as `test`
        #[arg(long)]
        half: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models in the catalog
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a model
    Show {
        /// Name of the model
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set the model to use from now on
    Set {
        /// Name of the model, or `auto` to choose one automatically
        name: String,
        /// Task to use the model for
        #[arg(
            long = "for", value_name = "TASK", default_value = "chat",
            value_parser = one_of(ModelTask::ALL, ModelTask::as_str)
        )]
        task: ModelTask,
    },
}

/// Returns the model name in an argument, or `None` for `auto`.
pub(crate) fn model_name(argument: &str) -> Option<String> {
    (argument != "auto").then(|| argument.to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List every setting with its value and origin
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the value of a setting
    Get {
        /// Name of the setting, such as rag.token_budget
        #[arg(add = ValueSource::SETTINGS, add = complete_settings())]
        key: String,
        /// Print JSON, including the origin
        #[arg(long)]
        json: bool,
    },
    /// Change a setting in your config file
    Set {
        /// Name of the setting, such as rag.token_budget
        #[arg(add = ValueSource::SETTINGS, add = complete_settings())]
        key: String,
        /// New value
        value: String,
        /// Change the config file of this project instead
        #[arg(long)]
        project: bool,
    },
    /// Remove a setting from your config file
    Unset {
        /// Name of the setting
        #[arg(add = ValueSource::SETTINGS, add = complete_settings())]
        key: String,
        /// Change the config file of this project instead
        #[arg(long)]
        project: bool,
    },
    /// Show the paths of the config files and the memory
    Path {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// How much of the memory an MCP server shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServedScope {
    /// This project, and what you shared
    Project,
    /// Everything
    All,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConnectArgs {
    /// Program to connect; without it, list all programs and whether they are connected
    #[arg(value_parser = one_of(Host::ALL, Host::tag))]
    pub(crate) host: Option<Host>,
    /// Write into the files of this project instead of your own
    #[arg(long, requires = "host")]
    pub(crate) project: bool,
    /// Restore what was there before
    #[arg(long, requires = "host")]
    pub(crate) remove: bool,
    /// Show the changes without making them
    #[arg(long, requires = "host")]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, requires = "host")]
    pub(crate) yes: bool,
    /// Print the list as JSON
    #[arg(long, conflicts_with = "host")]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The program's name of the event, such as UserPromptSubmit
    pub(crate) event: String,
    /// Program that runs the hook
    #[arg(long, default_value = HookHost::ClaudeCode.tag(), value_parser = one_of(HookHost::ALL, HookHost::tag))]
    pub(crate) host: HookHost,
    /// What the program may see
    #[arg(long, value_enum, default_value_t = ServedScope::Project)]
    pub(crate) scope: ServedScope,
    /// Take as long as it needs, because nobody waits
    #[arg(long, hide = true)]
    pub(crate) unhurried: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Serve this memory to an MCP client over stdin and stdout, or that of another machine
    Serve {
        /// Address of a `memoir serve` whose memory is used instead; its token is in MEMOIR_TOKEN
        #[arg(long, value_name = "URL", conflicts_with = "handshake")]
        url: Option<String>,
        /// Project at that address; defaults to the path of this one
        #[arg(long, requires = "url", conflicts_with = "scope")]
        project: Option<String>,
        /// What the client may see
        #[arg(long, value_enum, default_value_t = ServedScope::Project)]
        scope: ServedScope,
        /// Start of a session that another process began
        #[arg(long, hide = true)]
        handshake: Option<String>,
    },
    /// Connect to all servers, and list their tools and problems
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Connect to a server, and fail if that is impossible
    Test {
        /// Name of the server
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a server to your config
    Add {
        /// Name of the server, which begins the names of its tools
        name: String,
        /// Program to start, and its arguments, after `--`
        #[arg(last = true, required_unless_present = "url", conflicts_with = "url")]
        command: Vec<String>,
        /// Address of a server that is already running
        #[arg(long)]
        url: Option<String>,
        /// The server at the address has the transport of the oldest revision of the protocol
        #[arg(long, requires = "url")]
        sse: bool,
        /// Environment variable for the program; `${NAME}` in the value refers to one of yours
        #[arg(long, value_name = "NAME=VALUE", value_parser = |text: &str| pair(text, '='))]
        env: Vec<(String, String)>,
        /// HTTP header; `${NAME}` in the value refers to an environment variable
        #[arg(long, value_name = "NAME: VALUE", value_parser = |text: &str| pair(text, ':'), requires = "url")]
        header: Vec<(String, String)>,
        /// Directory in which the program is started
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<PathBuf>,
    },
    /// Remove a server from your config
    Remove {
        /// Name of the server
        name: String,
    },
}

/// Splits a name from its value.
fn pair(text: &str, separator: char) -> Result<(String, String), String> {
    match text.split_once(separator) {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("write a name, then `{separator}`, then its value")),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Script {
    /// Completion script for bash
    Bash,
    /// Completion script for zsh
    Zsh,
    /// Completion script for fish
    Fish,
    /// Completion script for elvish
    Elvish,
    /// Completion script for PowerShell
    Powershell,
    /// Man page
    Man,
}
