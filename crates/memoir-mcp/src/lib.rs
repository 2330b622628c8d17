//! A Model Context Protocol (MCP) client. A server is either a command that Memoir starts and talks to over stdin and
//! stdout, or an HTTP address. Each of its tools becomes a [`Tool`](memoir_tools::Tool) and needs the same approvals.

mod server;
mod tool;

pub use server::{ConnectError, Connecting, ServerConfig, connect};
pub use tool::qualify_name;
