//! Trying to break it: the real binary is killed at random moments, its provider fails, many work on one memory; and what was promised is
//! checked after each step. A seed repeats what was done, not when. Bad disks are had on Linux alone.

#[cfg(target_os = "linux")]
mod bad_disk;
mod chance;
mod check;
mod crash;
#[cfg(target_os = "linux")]
mod disk;
mod faults;
mod flat;
mod load;

#[cfg(target_os = "linux")]
pub(crate) use bad_disk::compile;
#[cfg(target_os = "linux")]
pub use bad_disk::{BadDisk, Trouble};
pub use chance::Chance;
pub use check::faults_of;
pub use crash::{CrashReport, crash};
#[cfg(target_os = "linux")]
pub use disk::{DiskReport, disk};
pub use faults::{FaultReport, faults};
pub use flat::flat;
pub use load::{LoadReport, load};
