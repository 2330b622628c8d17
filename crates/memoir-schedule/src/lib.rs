//! Tasks that run on a schedule.
//!
//! [`next_due`] computes when a task is due. [`Scheduler`] starts each due run exactly once, even if several processes
//! share a store, and records its outcome. An [`Engine`] executes the runs. [`TaskHistory`] stores the messages of
//! earlier runs as lines of JSON.

mod cron;
mod history;
mod history_line;
mod name;
mod scheduler;

pub use cron::{CronError, check_schedule, next_due};
pub use history::{LoadedRuns, TaskHistory};
pub use name::{NameError, check_name};
pub use scheduler::{DueRuns, Engine, Scheduler, SchedulerEvent, StartedRun};
