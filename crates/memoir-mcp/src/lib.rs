//! Tools of other programs, through the Model Context Protocol. A server is either started as a command and used over its
//! stdin and stdout, or reached over HTTP. Each of its tools is a [`Tool`](memoir_tools::Tool) and needs the same approvals.

mod server;
mod tool;

pub use server::{ConnectError, Connecting, ServerConfig, connect};
pub use tool::qualify_name;
