//! `memoir mcp`: lists, tests, adds and removes MCP servers, and serves memory to other programs.

use std::ffi::OsString;

use memoir_runtime::{
    Failure, Runtime,
    operations::servers::{self, AddServer},
    view::{MemoryView, Reach},
};
use memoir_serve::mcp::{self, Ending};

use super::print_notices;
use crate::{
    args::{McpCommand, ServedScope},
    process,
    render::{self, print, print_report},
};

/// The option that carries the start of a session to the next process.
const HANDSHAKE: &str = "--handshake";

pub(super) async fn run(command: McpCommand, runtime: &Runtime) -> Result<(), Failure> {
    match command {
        McpCommand::Serve { scope, handshake, url: _, project: _ } => {
            let mut notices = Vec::new();
            let view = MemoryView::new(runtime, reach(scope), &mut notices).await?;
            if handshake.is_none() {
                print_notices(&notices);
            }
            let idle_time = process::environment().idle_time();
            match mcp::serve_stdio(view, tokio::io::stdout(), idle_time, handshake.as_deref()).await? {
                Ending::Closed => Ok(()),
                Ending::Idle { handshake } => {
                    runtime.clone().close().await;
                    Err(start_over(&handshake))
                }
            }
        }
        McpCommand::List { json } => {
            print_report(&servers::check(None, runtime).await?, json, render::servers::list)
        }
        McpCommand::Test { name, json } => {
            let report = servers::check(Some(&name), runtime).await?;
            print_report(&report, json, render::servers::list)?;
            match report.servers.iter().all(|server| server.is_connected) {
                true => Ok(()),
                false => Err(Failure::failed(format!("the MCP server {name} is not connected"))
                    .hint("Fix its command or address in the config.")),
            }
        }
        McpCommand::Add { name, command, url, sse, env, header, cwd } => {
            let request = AddServer { name, command, url, is_sse: sse, env, headers: header, cwd };
            let change = servers::add(&request, runtime.home())?;
            print(&format!(
                "Added the MCP server {0} to {1}. Try it with `memoir mcp test {0}`.",
                change.name,
                change.path.display()
            ))
        }
        McpCommand::Remove { name } => {
            let change = servers::remove(&name, runtime.home())?;
            print(&format!("Removed the MCP server {} from {}.", change.name, change.path.display()))
        }
    }
}

/// Replaces this process by a new one that continues the session. Returns only if that fails.
fn start_over(handshake: &str) -> Failure {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(earlier) = arguments.iter().position(|argument| *argument == *HANDSHAKE) {
        arguments.drain(earlier..(earlier + 2).min(arguments.len()));
    }
    let error = process::replace(arguments.into_iter().chain([HANDSHAKE.into(), handshake.into()]));
    Failure::failed(format!("could not start over to free memory: {error}"))
        .hint("Start the MCP client again.")
}

/// Returns how much of the memory a program may see.
pub(super) fn reach(scope: ServedScope) -> Reach {
    match scope {
        ServedScope::Project => Reach::Project,
        ServedScope::All => Reach::All,
    }
}
