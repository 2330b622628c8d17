//! The only SQL in the tests. Everything else is read through the program, with
//! [`crate::TestHome::exchanges`] and similar methods.
//!
//! Three things cannot be done through the program:
//!
//! - Some tests need a database that the program would never write: damaged, or with a due time in the past. [`Edit`] lists
//!   all these changes.
//! - After a crash, the file must be intact before the program opens it, because opening repairs it. [`inspect`] checks a copy,
//!   including the indexes, which the program never shows.
//! - Some programs whose histories are imported keep them in databases. [`create_database`] creates these from dumps.

mod edits;
mod foreign;
mod integrity;

pub use edits::Edit;
pub use foreign::create_database;
pub use integrity::{Inspection, inspect};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
