//! `memoir mcp`: lists, tests, adds and removes MCP servers, and serves memory to other programs.

use memoir_runtime::{
    Failure, Runtime,
    operations::servers::{self, AddServer},
    view::{MemoryView, Reach},
};
use memoir_serve::mcp;

use super::print_notices;
use crate::{
    args::{McpCommand, ServedScope},
    render::{self, print, print_report},
};

pub(super) async fn run(command: McpCommand, runtime: &Runtime) -> Result<(), Failure> {
    match command {
        McpCommand::Serve { scope } => {
            let mut notices = Vec::new();
            let view = MemoryView::new(runtime, reach(scope), &mut notices).await?;
            print_notices(&notices);
            mcp::serve_stdio(view).await
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

/// Returns how much of the memory a program may see.
pub(super) fn reach(scope: ServedScope) -> Reach {
    match scope {
        ServedScope::Project => Reach::Project,
        ServedScope::All => Reach::All,
    }
}
