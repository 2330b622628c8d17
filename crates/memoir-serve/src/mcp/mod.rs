//! A Model Context Protocol server over stdin and stdout.
//!
//! Each tool is a file in `tools/`. Everything that a client receives is quoted from memory, so it is fenced and limited
//! in length (`crate::quote`).

mod forget;
mod handler;
mod prompts;
mod resources;
mod results;
mod tools;

use memoir_runtime::{Failure, view::MemoryView};
use rmcp::{ServiceExt as _, service::ServerInitializeError};

use handler::MemoryServer;

/// Serves memory over stdin and stdout until the client closes them.
///
/// # Errors
///
/// Fails if the client does not speak the protocol.
pub async fn serve_stdio(view: MemoryView) -> Result<(), Failure> {
    let service = match MemoryServer::new(view).serve(rmcp::transport::stdio()).await {
        Ok(service) => service,
        // The client ended before it asked for anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    service.waiting().await.map(drop).map_err(|error| failed(&error))
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::failed(format!("the MCP client did not follow the protocol: {error}"))
        .hint("Start this command from an MCP client. `memoir mcp serve --help` describes it.")
}
