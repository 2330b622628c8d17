//! Tasks that run on a schedule.
//!
//! [`next_due`] calculates when a task is due. [`Scheduler`] starts each run that is due exactly once, even if several
//! processes share a store, and records its outcome. [`TaskHistory`] keeps the messages of earlier runs, one line of JSON
//! each. An [`Engine`] executes the runs.

mod cron;
mod history;
mod history_line;
mod name;
mod scheduler;

pub use cron::{CronError, check, next_due};
pub use history::{Loaded, TaskHistory};
pub use name::{NameError, check_name};
pub use scheduler::{Begun, Due, Engine, Event, Scheduler};
