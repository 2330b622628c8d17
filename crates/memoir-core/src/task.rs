//! Scheduled tasks, which sub-agents run on their own.

use serde::Serialize;

use crate::{RunId, TaskId, Timestamp, Usd};

/// When a task is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Repeatedly, according to a cron expression.
    Cron {
        /// Cron expression with five fields, or six with seconds.
        line: String,
        /// Time zone of the expression, as in `Europe/Berlin`.
        zone: String,
    },
    /// Once, at this time.
    Once(Timestamp),
}

/// The definition of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewTask {
    /// Unique name, which is also used as a directory name.
    pub name: String,
    /// Prompt for the sub-agent.
    pub prompt: String,
    /// When to run the task.
    pub schedule: Schedule,
    /// Model to use. `None` selects the current default model.
    pub model: Option<String>,
    /// Project directory the task works in.
    pub scope: String,
    /// Approval mode: what the task may do without asking.
    pub approval: String,
    /// Rules that allow tool calls in addition to those that `approval` allows.
    pub allow: Vec<String>,
    /// Maximum duration of a run, in seconds.
    pub timeout_seconds: u64,
    /// Number of previous runs included in the prompt.
    pub history: u32,
    /// Maximum cost of a run.
    pub budget: Option<Usd>,
}

/// A scheduled task: its definition and the state of its schedule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// Id that [`Run::task_id`] refers to.
    pub id: TaskId,
    /// Definition of the task.
    #[serde(flatten)]
    pub definition: NewTask,
    /// Whether the task is paused.
    pub paused: bool,
    /// When the task is next due, or `None` if it will not run again.
    pub next_due: Option<Timestamp>,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// In progress, or not yet known to be interrupted.
    Running,
    /// Finished without an error.
    Done,
    /// Ended with an error.
    Failed,
    /// Exceeded its time limit.
    TimedOut,
    /// Interrupted because the process running it died.
    #[serde(rename = "cut_off")]
    Interrupted,
    /// Stopped by the user.
    Stopped,
}

impl RunState {
    /// All run states, searched by [`Self::parse`].
    pub const ALL: [Self; 6] =
        [Self::Running, Self::Done, Self::Failed, Self::TimedOut, Self::Interrupted, Self::Stopped];

    /// Returns the stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "cut_off",
            Self::Stopped => "stopped",
        }
    }

    /// Returns the state as the predicate of a sentence about the task.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Running => "is running",
            Self::Done => "finished",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::Interrupted => "was interrupted",
            Self::Stopped => "was stopped",
        }
    }

    /// Returns the state with this stored name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunOutcome {
    /// Current or final state.
    pub state: RunState,
    /// The sub-agent's answer, with a note on refused tool calls. Empty while the run is in progress.
    pub report: String,
    /// Error message, if the run failed.
    pub error: Option<String>,
    /// Cost, or `None` if it is unknown.
    pub cost: Option<Usd>,
}

/// A run of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Id, unique within the store. Ids carry no order.
    pub id: RunId,
    /// Task that was run.
    pub task_id: TaskId,
    /// Name of the task.
    pub task: String,
    /// When the run was due, or `None` if the user started it.
    pub scheduled_for: Option<Timestamp>,
    /// When the run started.
    pub started: Timestamp,
    /// When the run ended, unless it is still in progress.
    pub ended: Option<Timestamp>,
    /// Outcome, which changes once, when the run ends.
    #[serde(flatten)]
    pub outcome: RunOutcome,
    /// Whether the user has read the report.
    #[serde(rename = "seen")]
    pub is_read: bool,
}
