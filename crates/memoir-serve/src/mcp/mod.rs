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

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use memoir_runtime::{Failure, view::MemoryView};
use rmcp::{ServiceExt as _, service::ServerInitializeError};

use handler::MemoryServer;

/// How long the server embeds in the background after it has started. The rest is embedded by others.
const MAX_EMBEDDING_TIME: Duration = Duration::from_secs(20);

/// After this time without calls, a server frees memory.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// Serves memory over stdin and stdout until the client closes them.
///
/// # Errors
///
/// Fails if the client does not speak the protocol.
pub async fn serve_stdio(view: MemoryView) -> Result<(), Failure> {
    let idle_view = view.clone();
    let server = MemoryServer::new(view);
    let activity = Arc::clone(&server.activity);
    let service = match server.serve(rmcp::transport::stdio()).await {
        Ok(service) => service,
        // The client ended before it asked for anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    let background = tokio::spawn(async move {
        catch_up(&idle_view).await;
        release_when_idle(&idle_view, &activity).await;
    });
    let result = service.waiting().await;
    background.abort();
    result.map(drop).map_err(|error| failed(&error))
}

/// Stores what was said in other programs while no hook could do it, once, and embeds what hooks had no time for.
async fn catch_up(view: &MemoryView) {
    let work = async {
        view.capture_all(None).await?;
        view.embed_captured(MAX_EMBEDDING_TIME).await
    };
    if let Err(failure) = work.await {
        tracing::warn!(reason = failure.message, "could not store what was said in other programs");
    }
}

/// Frees the memory of a server that nobody has called for a while. Most sessions of agents are idle most of the time.
async fn release_when_idle(view: &MemoryView, activity: &AtomicBool) {
    let mut is_released = false;
    loop {
        tokio::time::sleep(IDLE_TIME).await;
        if activity.swap(false, Ordering::Relaxed) {
            is_released = false;
        } else if !is_released {
            is_released = true;
            if let Err(failure) = view.release_memory().await {
                tracing::warn!(reason = failure.message, "could not free memory");
            }
        }
    }
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::failed(format!("the MCP client did not follow the protocol: {error}"))
        .hint("Start this command from an MCP client. `memoir mcp serve --help` describes it.")
}
