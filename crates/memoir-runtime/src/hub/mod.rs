//! The memory of another machine, the hub, which serves it with `memoir serve`.
//!
//! What is to be stored there waits in files on this machine until the hub has confirmed it, so nothing is lost while the
//! network fails. What is read is never written to this machine's disk, unless an answer quotes it.

mod address;
mod client;
mod copies;
mod memory;
mod queue;

pub use address::HubAddress;
pub use client::{ForgetPreview, ForgetReply, Hub, HubError, Sent, Withdrawal};
pub use memory::HubMemory;
pub use queue::{QueuedRequest, Waiting};
