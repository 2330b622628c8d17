//! What concerns the program itself: models, workers, measuring, config.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use memoir_runtime::{operations::eval::SearchMode, settings::ModelTask};

use super::one_of;

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
        /// Which ways of finding are used: words and meaning, meaning alone, or words alone
        #[arg(long, default_value = "hybrid", value_parser = one_of(SearchMode::ALL, SearchMode::as_str))]
        mode: SearchMode,
        /// Stages and terms to leave out, to see what they add
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        without: Vec<String>,
    },
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
        #[arg(
            long = "for", value_name = "TASK", default_value = "chat",
            value_parser = one_of(ModelTask::ALL, ModelTask::as_str)
        )]
        task: ModelTask,
    },
}

/// Returns the name of a model, or `None` for the word that goes back to the automatic choice.
pub(crate) fn model_name(argument: &str) -> Option<String> {
    (argument != "auto").then(|| argument.to_owned())
}

/// What can be done with settings.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List every setting with its value and where that comes from
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one
    Get {
        /// Its name, as in rag.token_budget
        key: String,
        /// Print JSON, with where it comes from
        #[arg(long)]
        json: bool,
    },
    /// Set one in your config file
    Set {
        /// Its name, as in rag.token_budget
        key: String,
        /// What it is to be
        value: String,
        /// In the file of this project instead
        #[arg(long)]
        project: bool,
    },
    /// Take one out of your config file
    Unset {
        /// Its name
        key: String,
        /// Out of the file of this project instead
        #[arg(long)]
        project: bool,
    },
    /// Show where the files are
    Path {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// What helps with the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Script {
    /// For bash
    Bash,
    /// For zsh
    Zsh,
    /// For fish
    Fish,
    /// For elvish
    Elvish,
    /// For PowerShell
    Powershell,
    /// The man page
    Man,
}
