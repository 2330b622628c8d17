//! opencode: MCP servers in `opencode.json`, and a plugin, since it has no command hooks.

use std::path::PathBuf;

use super::{HostFiles, server_file, shared_skill_file, text_file};
use crate::{
    json_config::{FieldValue, ServerEntry},
    jsonc::JsonDialect,
    places::{ConfigLevel, MemoirCommand, Places},
};

/// The plugin, without the command that it runs.
const PLUGIN: &str = include_str!("opencode_plugin.js");

/// The part of the plugin that is replaced by the command, a JSON array.
const COMMAND_PLACEHOLDER: &str = "[\"memoir\"]";

pub(super) fn files(level: &ConfigLevel, places: &Places, program: &MemoirCommand) -> HostFiles {
    let (config, plugins) = match level {
        ConfigLevel::User => {
            let directory = places.config_home.join("opencode");
            (directory.clone(), directory.join("plugins"))
        }
        ConfigLevel::Project(project) => (project.clone(), project.join(".opencode/plugins")),
    };
    let server = ServerEntry {
        parent: "mcp",
        fields: vec![
            ("type", FieldValue::Text("local".to_owned())),
            ("command", FieldValue::List(program.server_command())),
            ("enabled", FieldValue::Flag(true)),
        ],
    };
    let file = |path: PathBuf| server_file(path, level, JsonDialect::Jsonc, server.clone());
    let (json, jsonc) = (config.join("opencode.json"), config.join("opencode.jsonc"));
    // opencode merges both files.
    let (current, other) = if !json.exists() && jsonc.exists() { (jsonc, json) } else { (json, jsonc) };
    HostFiles {
        files: vec![
            file(current),
            text_file(plugins.join("memoir.js"), plugin(program)),
            shared_skill_file(level, places),
        ],
        former: vec![file(other)],
        notes: Vec::new(),
    }
}

/// Returns the plugin that runs the given program.
fn plugin(program: &MemoirCommand) -> String {
    let words = std::iter::once(program.path.as_str()).chain(program.arguments.iter().map(String::as_str));
    let command: serde_json::Value = words.collect();
    PLUGIN.replacen(COMMAND_PLACEHOLDER, &command.to_string(), 1)
}
