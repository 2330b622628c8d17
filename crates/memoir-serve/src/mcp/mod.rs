//! A Model Context Protocol server, over stdin and stdout or over HTTP.
//!
//! Each tool is a file in `tools/`. Everything that a client receives is quoted from memory, so it is fenced and limited
//! in length (`crate::quote`).

mod activity;
mod forget;
mod handler;
mod http;
mod hub;
mod prompts;
mod resources;
mod results;
mod stdio;
mod tools;

use std::time::Duration;

use memoir_core::Right;
use memoir_runtime::{Failure, view::MemoryView};
use rmcp::{ServiceExt as _, service::ServerInitializeError};
use tokio::io::AsyncWrite;

pub use http::{HttpClient, HttpSessions};
pub use hub::serve_hub;

use activity::Activity;
use handler::MemoryServer;
use stdio::Line;

/// How long the server embeds in the background after it has started. The rest is embedded by others.
const MAX_EMBEDDING_TIME: Duration = Duration::from_secs(20);

/// Time between the last message that is read and the end of an idle server, in which its work would begin.
const SETTLING_TIME: Duration = Duration::from_millis(100);

/// How a server ended.
#[derive(Debug)]
pub enum Ending {
    /// The client closed the connection.
    Closed,
    /// Nobody has called for a while, so a new process should continue, which needs less memory.
    Idle {
        /// What the client said at the start of the session.
        handshake: String,
    },
}

/// Serves memory over stdin and stdout until the client closes them, or has not called for `idle_time`. `handshake` is
/// that of the process before this one, if it began the session.
///
/// # Errors
///
/// Fails if the client does not speak the protocol.
pub async fn serve_stdio(
    view: MemoryView,
    stdout: impl AsyncWrite + Send + Unpin + 'static,
    idle_time: Duration,
    handshake: Option<&str>,
) -> Result<Ending, Failure> {
    let (input, output, line) = stdio::open(stdout, handshake);
    let server = MemoryServer::new(view.clone(), Right::ALL.to_vec());
    let activity = server.activity.clone();
    let service = match server.serve((input, output)).await {
        Ok(service) => service,
        // The client ended before it asked for anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(Ending::Closed),
        Err(error) => return Err(failed(&error)),
    };
    let is_new = handshake.is_none();
    let background = is_new.then(|| {
        let work = activity.start();
        tokio::spawn(async move {
            catch_up(&view).await;
            drop(work);
        })
    });
    let ending = tokio::select! {
        result = service.waiting() => result.map(|_| Ending::Closed).map_err(|error| failed(&error)),
        handshake = wait_until_idle(&activity, &line, idle_time, is_new) => Ok(Ending::Idle { handshake }),
    };
    if let Some(background) = background {
        background.abort();
    }
    ending
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

/// Waits until the server has worked and nobody has called for a while. Most sessions of agents are idle most of the time.
/// Returns the client's handshake; nothing that the client sends is read any more.
async fn wait_until_idle(activity: &Activity, line: &Line, idle_time: Duration, is_new: bool) -> String {
    if !stdio::CAN_BE_TAKEN_OVER {
        return std::future::pending().await;
    }
    let mut has_worked = is_new;
    loop {
        tokio::time::sleep(idle_time).await;
        if line.take_fresh() {
            has_worked = true;
            continue;
        }
        if !has_worked || activity.is_working() {
            continue;
        }
        line.pause();
        tokio::time::sleep(SETTLING_TIME).await;
        match line.handshake() {
            Some(handshake) if !line.take_fresh() && !activity.is_working() => return handshake,
            _ => line.resume(),
        }
    }
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::failed(format!("the MCP client did not follow the protocol: {error}"))
        .hint("Start this command from an MCP client. `memoir mcp serve --help` describes it.")
}
