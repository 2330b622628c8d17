//! A Model Context Protocol (MCP) client. A server is either a command that Memoir starts and talks to over stdin and
//! stdout, or an HTTP address. Each of its tools becomes a [`Tool`](memoir_tools::Tool) and needs the same approvals.

mod client;
mod config;
mod connection;
mod content;
mod failure;
mod question;
mod server;
mod sse;
mod stderr;
mod tool;

pub use config::{MissingVariable, ServerConfig};
pub use connection::ServerOptions;
pub use question::{FieldKind, QuestionField, Questioner, Questions, ServerQuestion};
pub use server::{Server, ServerState};
pub use tool::qualify_name;
