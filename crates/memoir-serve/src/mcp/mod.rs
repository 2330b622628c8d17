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

use std::time::Duration;

use memoir_runtime::{Failure, view::MemoryView};
use rmcp::{ServiceExt as _, service::ServerInitializeError};

use handler::MemoryServer;

/// How long the server embeds in the background after it has started. The rest is embedded by others.
const MAX_EMBEDDING_TIME: Duration = Duration::from_secs(20);

/// Serves memory over stdin and stdout until the client closes them.
///
/// # Errors
///
/// Fails if the client does not speak the protocol.
pub async fn serve_stdio(view: MemoryView) -> Result<(), Failure> {
    let catching_up = view.clone();
    let service = match MemoryServer::new(view).serve(rmcp::transport::stdio()).await {
        Ok(service) => service,
        // The client ended before it asked for anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    let catching_up = tokio::spawn(catch_up(catching_up));
    let result = service.waiting().await;
    catching_up.abort();
    result.map(drop).map_err(|error| failed(&error))
}

/// Stores what was said in other programs while no hook could do it, once, and embeds what hooks had no time for.
async fn catch_up(view: MemoryView) {
    let caught_up = async {
        view.capture_all(None).await?;
        view.embed_captured(MAX_EMBEDDING_TIME).await
    };
    if let Err(failure) = caught_up.await {
        tracing::warn!(reason = failure.message, "could not store what was said in other programs");
    }
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::failed(format!("the MCP client did not follow the protocol: {error}"))
        .hint("Start this command from an MCP client. `memoir mcp serve --help` describes it.")
}
