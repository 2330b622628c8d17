//! Trying to break it: the real binary is killed at random moments, its provider fails, many work on one memory; and what was promised is
//! checked after each step. A seed repeats what was done, not when. Bad disks are had on Linux alone, and so is what a
//! process holds.

#[cfg(target_os = "linux")]
mod bad_disk;
mod crash;
#[cfg(target_os = "linux")]
mod disk;
mod enough;
mod faults;
#[cfg(target_os = "linux")]
mod flat;
mod history;
mod load;
mod promises;
mod random;

#[cfg(target_os = "linux")]
pub(crate) use bad_disk::compile;
#[cfg(target_os = "linux")]
pub use bad_disk::{BadDisk, Trouble};
pub use crash::{CrashReport, crash};
#[cfg(target_os = "linux")]
pub use disk::{DiskReport, disk};
pub use faults::{FaultReport, faults};
#[cfg(target_os = "linux")]
pub use flat::{FlatReport, flat};
pub use load::{LoadReport, load};
pub use promises::{Said, SaidById};
