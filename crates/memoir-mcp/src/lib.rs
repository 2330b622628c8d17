//! A Model Context Protocol (MCP) client. A server is either a command that Memoir starts and talks to over stdin and
//! stdout, or an HTTP address. Each of its tools becomes a [`Tool`](memoir_tools::Tool) and needs the same approvals.
//! Users can send its prompts and attach its resources.

mod client;
mod config;
mod connection;
mod content;
mod failure;
mod offers;
mod progress;
mod question;
mod resource_tool;
mod server;
mod sse;
mod stderr;
mod tool;

pub use config::{MissingVariable, ServerConfig};
pub use connection::ServerOptions;
pub use content::ServerContent;
pub use offers::{Offers, PromptArgument, ServerPrompt, ServerResource};
pub use question::{FieldKind, QuestionField, Questioner, Questions, ServerQuestion};
pub use server::{Server, ServerState};
pub use tool::qualify_name;
