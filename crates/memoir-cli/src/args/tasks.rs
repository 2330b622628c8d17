//! `memoir schedule`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::completion_source::ValueSource;

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
        #[arg(add = ValueSource::TASKS)]
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a task now, and show its report
    Run(TaskName),
    /// Have a task wait
    Pause(TaskName),
    /// Have a task go on
    Resume(TaskName),
    /// Remove a task, with its runs and what it remembers of them
    Remove(TaskName),
    /// Show the last runs of a task, with their reports
    History {
        /// Its name
        #[arg(add = ValueSource::TASKS)]
        name: String,
        /// At most so many
        #[arg(long, default_value_t = 10)]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// A task.
#[derive(Debug, clap::Args)]
pub(crate) struct TaskName {
    /// Its name
    #[arg(add = ValueSource::TASKS)]
    pub(crate) name: String,
}

/// A task to be added.
#[derive(Debug, clap::Args)]
pub(crate) struct TaskArgs {
    /// Its name: letters, numbers, - and _
    pub(crate) name: String,
    /// What is to be done
    #[arg(required = true, num_args = 1.., add = ValueSource::FreeText)]
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
