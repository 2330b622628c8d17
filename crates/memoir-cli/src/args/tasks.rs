//! Arguments of `memoir schedule`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::completion_source::{ValueSource, complete_modes};

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// Add a task
    Add(Box<TaskArgs>),
    /// List all tasks and when they are due
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a task
    Show {
        /// Name of the task
        #[arg(add = ValueSource::TASKS)]
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a task now and show its report
    Run(TaskName),
    /// Pause a task
    Pause(TaskName),
    /// Resume a paused task
    Resume(TaskName),
    /// Remove a task, its runs and its memory of them
    Remove(TaskName),
    /// Show the latest runs of a task, with their reports
    History {
        /// Name of the task
        #[arg(add = ValueSource::TASKS)]
        name: String,
        /// Maximum number of runs
        #[arg(long, default_value_t = 10)]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct TaskName {
    /// Name of the task
    #[arg(add = ValueSource::TASKS)]
    pub(crate) name: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TaskArgs {
    /// Name of the task: letters, numbers, - and _
    pub(crate) name: String,
    /// Prompt for the sub-agent that runs the task
    #[arg(required = true, num_args = 1.., add = ValueSource::FreeText)]
    pub(crate) prompt: Vec<String>,
    /// Recurring schedule: minute, hour, day, month, weekday; an optional sixth field in front gives the seconds
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "once")]
    pub(crate) cron: Option<String>,
    /// Time of a single run: 2026-05-01 09:00
    #[arg(long, value_name = "TIME")]
    pub(crate) once: Option<String>,
    /// Time zone of the schedule, such as Europe/Berlin; defaults to the zone of this machine
    #[arg(long)]
    pub(crate) zone: Option<String>,
    /// Model to use; defaults to the chat model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Approval mode: read-only, ask (allows only what a rule allows, since a task cannot ask), auto-edit or full
    #[arg(long, value_name = "MODE", default_value = "read-only", add = complete_modes())]
    pub(crate) approval: String,
    /// Rule that allows more, such as execute_bash(git status); can be repeated; needs a mode other than read-only
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Maximum duration of a run in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub(crate) timeout: u64,
    /// Number of previous runs that the task remembers
    #[arg(long, value_name = "RUNS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) history: u32,
    /// Maximum cost of a run in dollars
    #[arg(long, value_name = "USD")]
    pub(crate) budget: Option<f64>,
    /// Project directory to work in; defaults to this project
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) dir: Option<PathBuf>,
}
