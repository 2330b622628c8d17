//! Whether the user trusts a project: its instructions, skills and config are used only then.
//!
//! They come with the project, so their author may be anyone, and they influence what the model does.

use std::path::{Path, PathBuf};

use memoir_core::{Clock as _, SystemClock};
use memoir_mcp::ServerConfig;
use memoir_store::{Settings, StoreError};

use crate::{
    config::{project_config, project_servers, read_project_servers},
    environment::Environment,
};

/// Variable that trusts the project for one run, for scripts.
const VARIABLE: &str = "MEMOIR_TRUST_PROJECT";

/// What the user decided about a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Its instructions, skills and config are used.
    Trusted,
    /// They are not used.
    Distrusted,
    /// They are not used, because the user was not asked yet.
    Undecided,
}

/// Returns what the user decided about a project.
pub(crate) async fn read(
    store: &dyn Settings,
    environment: &Environment,
    project: &Path,
) -> Result<Trust, StoreError> {
    if environment.variable(VARIABLE) == Some("1") {
        return Ok(Trust::Trusted);
    }
    Ok(match store.setting(&key(project)).await?.as_deref() {
        Some("yes") => Trust::Trusted,
        Some(_) => Trust::Distrusted,
        None => Trust::Undecided,
    })
}

/// Stores what the user decided about a project. The servers that it starts are trusted only as they are now.
pub(crate) async fn write(store: &dyn Settings, project: &Path, is_trusted: bool) -> Result<(), StoreError> {
    let value = if is_trusted { "yes" } else { "no" };
    let servers = read_project_servers(project).ok().filter(|text| is_trusted && !text.is_empty());
    store.set_setting(&servers_key(project), servers.as_deref(), SystemClock.now()).await?;
    store.set_setting(&key(project), Some(value), SystemClock.now()).await
}

/// Copies what the user decided about a project to another store.
pub(crate) async fn copy(from: &dyn Settings, to: &dyn Settings, project: &Path) -> Result<(), StoreError> {
    for key in [key(project), servers_key(project)] {
        if let Some(value) = from.setting(&key).await? {
            to.set_setting(&key, Some(&value), SystemClock.now()).await?;
        }
    }
    Ok(())
}

/// Returns whether the user trusts the servers of a project with this text.
pub(crate) async fn trusts_servers(
    store: &dyn Settings,
    environment: &Environment,
    project: &Path,
    text: &str,
) -> Result<bool, StoreError> {
    if environment.variable(VARIABLE) == Some("1") {
        return Ok(true);
    }
    Ok(store.setting(&servers_key(project)).await?.as_deref() == Some(text))
}

/// Returns the names of the servers that a project starts, with their commands or addresses.
pub(crate) fn list_servers(project: &Path) -> Vec<(String, String)> {
    let text = read_project_servers(project).unwrap_or_default();
    let servers = ServerConfig::read_json(&text).unwrap_or_default();
    servers.into_iter().map(|(name, server)| (name, server.address())).collect()
}

fn servers_key(project: &Path) -> String {
    format!("trust-servers:{}", project.display())
}

fn key(project: &Path) -> String {
    format!("trust:{}", project.display())
}

/// Returns the files and directories that are used if the user trusts a project.
pub(crate) fn find_files(project: &Path) -> Vec<PathBuf> {
    let instructions = project.ancestors().map(|directory| directory.join("AGENTS.md"));
    let own = [project_config(project), project_servers(project), project.join(".memoir/skills")];
    instructions.chain(own).filter(|path| path.exists()).collect()
}
