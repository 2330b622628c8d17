//! Windsurf, now Devin Desktop: MCP servers in `mcp_config.json`.

use std::path::PathBuf;

use super::{HostFiles, server_entry, server_file, shared_skill_file};
use crate::{
    jsonc::JsonDialect,
    places::{ConfigLevel, MemoirCommand, Places},
};

const FILE_NAME: &str = "mcp_config.json";

pub(super) fn files(level: &ConfigLevel, places: &Places, program: &MemoirCommand) -> HostFiles {
    let file = |directory: PathBuf| {
        let server = server_entry("mcpServers", &[], program);
        server_file(directory.join(FILE_NAME), level, JsonDialect::Json, server)
    };
    let (servers, former) = match level {
        ConfigLevel::Project(project) => (file(project.join(".devin")), Vec::new()),
        ConfigLevel::User => {
            let [windsurf, devin] = directories(places);
            // Devin imports the servers of Windsurf, so an entry in both would start two.
            let is_devin = !windsurf.exists() && devin.exists();
            let (current, other) = if is_devin { (devin, windsurf) } else { (windsurf, devin) };
            (file(current), vec![file(other)])
        }
    };
    HostFiles {
        files: vec![servers, shared_skill_file(level, places)],
        former,
        notes: vec![
            "The hooks of Windsurf cannot add context. Memory is available through the MCP tools and the skill."
                .to_owned(),
        ],
    }
}

/// The directory of Windsurf and that of its successor.
pub(super) fn directories(places: &Places) -> [PathBuf; 2] {
    let successor = if cfg!(windows) { places.app_data() } else { places.config_home.clone() };
    [places.user_home.join(".codeium/windsurf"), successor.join("devin")]
}
