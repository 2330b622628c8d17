//! Torture tests: the real binary is killed at random moments, its provider and its disk fail, and many
//! processes share one database. After each step, the tests check that the program has kept its promises. A
//! seed reproduces the actions but not their timing. Failing disks and memory measurements require Linux.

#[cfg(target_os = "linux")]
mod bad_disk;
mod copies;
mod coverage;
mod crash;
mod crash_report;
#[cfg(target_os = "linux")]
mod disk;
mod faults;
mod history;
mod load;
#[cfg(target_os = "linux")]
mod memory_use;
mod programs;
mod promises;
mod random;

#[cfg(target_os = "linux")]
pub(crate) use bad_disk::compile;
#[cfg(target_os = "linux")]
pub use bad_disk::{BadDisk, DiskFault};
pub use crash::crash;
pub use crash_report::CrashReport;
#[cfg(target_os = "linux")]
pub use disk::{DiskReport, disk};
pub use faults::{FaultReport, faults};
pub use load::{LoadReport, load};
#[cfg(target_os = "linux")]
pub use memory_use::{MemoryUseReport, measure_memory_use};
pub use programs::{ProgramsReport, ProgramsSize, programs};
pub use promises::{PromptAndAnswer, PromptsAndAnswers};
