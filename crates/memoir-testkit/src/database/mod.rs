//! The only SQL in the tests. Everything else is read through the program (see [`crate::TestHome::exchanges`] and its like).
//!
//! Two things cannot be done through the program, by their nature:
//!
//! - Some tests need a database that the program would never write: damaged, or with a due time in the past. [`Edit`] lists
//!   every such change.
//! - After a crash, the file must be whole before the program opens it, because opening repairs it. [`look_at`] examines a
//!   copy, including the indexes, which the program never shows.

mod edits;
mod integrity;

pub use edits::Edit;
pub use integrity::{Seen, look_at};

/// Runs a future to its end.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
