//! Visual Studio Code: MCP servers in `mcp.json`.

use std::path::PathBuf;

use super::{HostFiles, server_entry, server_file, shared_skill_file};
use crate::{
    jsonc::JsonDialect,
    places::{ConfigLevel, MemoirCommand, Places},
};

pub(super) fn files(level: &ConfigLevel, places: &Places, program: &MemoirCommand) -> HostFiles {
    let path = match level {
        ConfigLevel::User => directory(places).join("mcp.json"),
        ConfigLevel::Project(project) => project.join(".vscode/mcp.json"),
    };
    let server = server_entry("servers", &[("type", "stdio")], program);
    HostFiles {
        files: vec![server_file(path, level, JsonDialect::Jsonc, server), shared_skill_file(level, places)],
        former: Vec::new(),
        notes: vec![
            "The hooks of VS Code are a preview, and Memoir does not write them. Memory is available through the \
             MCP tools and the skill. VS Code also runs the hooks of Claude Code if that is connected."
                .to_owned(),
        ],
    }
}

/// The directory of the default profile.
pub(super) fn directory(places: &Places) -> PathBuf {
    places.app_data().join("Code/User")
}
