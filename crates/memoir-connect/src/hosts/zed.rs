//! Zed: MCP servers in `settings.json`.

use std::path::PathBuf;

use super::{HostFiles, server_entry, server_file, shared_skill_file};
use crate::{
    jsonc::JsonDialect,
    places::{ConfigLevel, MemoirCommand, Places},
};

pub(super) fn files(level: &ConfigLevel, places: &Places, program: &MemoirCommand) -> HostFiles {
    let directory = match level {
        ConfigLevel::User => directory(places),
        ConfigLevel::Project(project) => project.join(".zed"),
    };
    // Current versions ignore `source`, and older ones require it.
    let server = server_entry("context_servers", &[("source", "custom")], program);
    HostFiles {
        files: vec![
            server_file(directory.join("settings.json"), level, JsonDialect::Jsonc, server),
            shared_skill_file(level, places),
        ],
        former: Vec::new(),
        notes: vec!["Zed has no hooks. Memory is available through the MCP tools and the skill.".to_owned()],
    }
}

pub(super) fn directory(places: &Places) -> PathBuf {
    if cfg!(windows) { places.app_data().join("Zed") } else { places.config_home.join("zed") }
}
