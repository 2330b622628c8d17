//! Tasks: work that a sub-agent does by itself, at its time; and their runs.

use serde::Serialize;

use crate::{RunId, TaskId, Timestamp, Usd};

/// When a task is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Again and again.
    Cron {
        /// Five fields, or six with seconds.
        line: String,
        /// Where the clock hangs, as in `Europe/Berlin`.
        zone: String,
    },
    /// Once.
    Once(Timestamp),
}

/// A task, before it is kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewTask {
    /// Its name, of which there is only one.
    pub name: String,
    /// What is to be done.
    pub prompt: String,
    /// When.
    pub schedule: Schedule,
    /// Who does it; whoever answers, if nobody is named.
    pub model: Option<String>,
    /// The project that it works in.
    pub scope: String,
    /// What it may do without being asked.
    pub approval: String,
    /// What it may do besides, as rules are written.
    pub allow: Vec<String>,
    /// How long a run may take, in seconds.
    pub timeout_seconds: u64,
    /// How many of its last runs it remembers.
    pub history: u32,
    /// What a run may cost.
    pub budget: Option<Usd>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// What it is.
    #[serde(flatten)]
    pub what: NewTask,
    /// Whether it waits to be resumed.
    pub paused: bool,
    /// When it is due next; never, if there is no moment.
    pub next_due: Option<Timestamp>,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It is going on.
    Running,
    /// It came to its end.
    Done,
    /// It failed.
    Failed,
    /// It took too long.
    TimedOut,
    /// Its program died.
    CutOff,
    /// Someone stopped it.
    Stopped,
}

impl RunState {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Running, Self::Done, Self::Failed, Self::TimedOut, Self::CutOff, Self::Stopped];

    /// The word the store keeps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::CutOff => "cut_off",
            Self::Stopped => "stopped",
        }
    }

    /// Returns the state as the predicate of a sentence, for people to read.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Running => "is running",
            Self::Done => "is done",
            Self::Failed => "failed",
            Self::TimedOut => "took too long",
            Self::CutOff => "was cut off",
            Self::Stopped => "was stopped",
        }
    }

    /// Returns the state that the store writes as `word`, or `None` if there is no such state.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunOutcome {
    /// How it ended.
    pub state: RunState,
    /// What it reported.
    pub report: String,
    /// What went wrong.
    pub error: Option<String>,
    /// What it cost, where that is known.
    pub cost: Option<Usd>,
}

/// A run of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The task.
    pub task_id: TaskId,
    /// What that is called.
    pub task: String,
    /// When it was due; nothing if someone wanted it at once.
    pub scheduled_for: Option<Timestamp>,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: RunOutcome,
    /// Whether someone has read it.
    pub seen: bool,
}
