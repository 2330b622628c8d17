//! Tasks at their time.
//!
//! [`next_due`] tells when a task is due, [`Scheduler`] begins what is due, once, whoever looks, and notes what came of it;
//! [`History`] keeps what a task remembers of its runs, a line of JSON for each message. Who does the work is an [`Engine`].

mod cron;
mod history;
mod name;
mod scheduler;

pub use cron::{CronError, check, next_due};
pub use history::{History, Loaded};
pub use name::{NameError, check_name};
pub use scheduler::{Begun, Due, Engine, Event, Scheduler};
