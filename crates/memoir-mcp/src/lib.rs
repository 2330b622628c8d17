//! Tools of other programs, by the Model Context Protocol: a server that is started and spoken to over its stdin and stdout, or
//! one that is reached over HTTP. Each of its tools is a [`Tool`] like any other, under the same approvals.

mod server;
mod tool;

pub use server::{ServerConfig, connect};
pub use tool::name_of;
