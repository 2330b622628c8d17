//! MCP servers: their state, and changes of the config.

use std::path::{Path, PathBuf};

use memoir_mcp::ServerConfig;
use serde::{Deserialize, Serialize};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

use super::config::write_checked;
use crate::{config::read_file, failure::Failure, home::Home, runtime::Runtime, servers::Servers};

/// The state of the MCP servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerList {
    /// The servers, by name.
    pub servers: Vec<ServerReport>,
}

/// The state of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerReport {
    /// Name in the config.
    pub name: String,
    /// The command or the address.
    pub address: String,
    /// Whether its tools can be used.
    pub is_connected: bool,
    /// Revision of the protocol, if it is connected.
    pub revision: Option<String>,
    /// Names of its tools.
    pub tools: Vec<String>,
    /// Names of its prompts.
    pub prompts: Vec<String>,
    /// URIs of its resources.
    pub resources: Vec<String>,
    /// Why it is not connected.
    pub problem: Option<String>,
}

/// Request to add an MCP server to the user's config.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddServer {
    /// Name of the server, which begins the names of its tools.
    pub name: String,
    /// Program to start, and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// Address, instead of a program.
    pub url: Option<String>,
    /// Whether the server at the address has the transport of the oldest revision.
    #[serde(default)]
    pub is_sse: bool,
    /// Environment variables of the program.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// HTTP headers.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Directory in which the program is started.
    pub cwd: Option<PathBuf>,
}

/// A change of the servers in the config.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerChange {
    /// Name of the server.
    pub name: String,
    /// Path of the changed file.
    pub path: PathBuf,
}

/// Connects to all servers, or to the named one, and reports their state.
///
/// # Errors
///
/// Fails if there is no server with this name.
pub async fn check(name: Option<&str>, runtime: &Runtime) -> Result<ServerList, Failure> {
    let configs = &runtime.models().config.mcp;
    if let Some(name) = name
        && !configs.contains_key(name)
    {
        return Err(unknown(name));
    }
    let is_wanted = |other: &str| name.is_none_or(|name| name == other);
    let servers = Servers::connect(runtime.models(), runtime.project(), is_wanted);
    servers.list().await;
    Ok(servers.report())
}

pub(crate) fn unknown(name: &str) -> Failure {
    Failure::usage(format!("there is no MCP server {name} in the config"))
        .hint("List the servers with `memoir mcp list`.")
}

/// Adds a server to the user's config.
///
/// # Errors
///
/// Fails if the name is taken or invalid, or the file cannot be changed.
pub fn add(request: &AddServer, home: &Home) -> Result<ServerChange, Failure> {
    if !ServerConfig::is_name(&request.name) {
        return Err(Failure::usage(format!("\"{}\" cannot be the name of a server", request.name))
            .hint("Use up to 32 letters, digits, hyphens and single underscores."));
    }
    let path = home.config_file();
    let mut document = parse(&path)?;
    let servers = table(&mut document, &path)?;
    if servers.contains_key(&request.name) {
        return Err(Failure::usage(format!("there already is an MCP server {}", request.name))
            .hint(format!("Remove it with `memoir mcp remove {}` first.", request.name)));
    }
    servers.insert(&request.name, Item::Table(entry(request)));
    write_checked(&path, &document.to_string())?;
    Ok(ServerChange { name: request.name.clone(), path })
}

/// Removes a server from the user's config.
///
/// # Errors
///
/// Fails if there is no such server, or the file cannot be changed.
pub fn remove(name: &str, home: &Home) -> Result<ServerChange, Failure> {
    let path = home.config_file();
    let mut document = parse(&path)?;
    if table(&mut document, &path)?.remove(name).is_none() {
        return Err(unknown(name));
    }
    write_checked(&path, &document.to_string())?;
    Ok(ServerChange { name: name.to_owned(), path })
}

fn parse(path: &Path) -> Result<DocumentMut, Failure> {
    read_file(path)?.parse().map_err(|error: toml_edit::TomlError| {
        Failure::failed(format!("could not parse {}: {}", path.display(), error.message()))
            .hint("Nothing was changed. Fix the file first.")
    })
}

/// Returns the table of all servers.
fn table<'a>(document: &'a mut DocumentMut, path: &Path) -> Result<&'a mut Table, Failure> {
    let servers = document.entry("mcp").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    servers.as_table_mut().ok_or_else(|| {
        Failure::failed(format!("`mcp` in {} is not a table", path.display()))
            .hint("Nothing was changed. Fix the file first.")
    })
}

fn entry(request: &AddServer) -> Table {
    let map = |pairs: &[(String, String)]| {
        let pairs = pairs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        value(pairs.collect::<InlineTable>())
    };
    let mut entry = Table::new();
    if let Some((program, arguments)) = request.command.split_first() {
        entry.insert("command", value(program));
        if !arguments.is_empty() {
            entry.insert("args", value(arguments.iter().collect::<Array>()));
        }
    }
    if let Some(url) = &request.url {
        entry.insert("url", value(url));
    }
    if request.is_sse {
        entry.insert("transport", value("sse"));
    }
    if let Some(directory) = &request.cwd {
        entry.insert("cwd", value(directory.display().to_string()));
    }
    for (name, pairs) in [("env", &request.env), ("headers", &request.headers)] {
        if !pairs.is_empty() {
            entry.insert(name, map(pairs));
        }
    }
    entry
}
