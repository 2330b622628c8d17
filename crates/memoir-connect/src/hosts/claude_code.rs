//! Claude Code: MCP servers in `.claude.json` or a project's `.mcp.json`, hooks in `settings.json`.

use std::path::PathBuf;

use super::{EventName, HostFiles, event, hooks, hooks_file, server_entry, server_file, skill_file};
use crate::{
    host::{HookMoment, Host},
    json_hooks::HookShape,
    jsonc::JsonDialect,
    places::{ConfigLevel, MemoirCommand, Places},
};

/// Timeouts are in seconds.
const EVENTS: [EventName; 5] = [
    event(HookMoment::SessionStart, "SessionStart", 5),
    event(HookMoment::PromptSubmit, "UserPromptSubmit", 5),
    event(HookMoment::BeforeCompaction, "PreCompact", 10),
    event(HookMoment::TurnEnd, "Stop", 10),
    event(HookMoment::SessionEnd, "SessionEnd", 5),
];

pub(super) fn files(level: &ConfigLevel, places: &Places, program: &MemoirCommand) -> HostFiles {
    let (directory, servers) = match level {
        ConfigLevel::User => (directory(places), user_servers(places)),
        ConfigLevel::Project(project) => (project.join(".claude"), project.join(".mcp.json")),
    };
    let server = server_entry("mcpServers", &[("type", "stdio")], program);
    let hooks = hooks(Host::ClaudeCode, HookShape::Grouped, &EVENTS, program);
    let mut notes = Vec::new();
    if matches!(level, ConfigLevel::Project(_)) {
        notes.push(
            "Claude Code asks before it starts the servers of a project for the first time.".to_owned(),
        );
    }
    HostFiles {
        files: vec![
            server_file(servers, level, JsonDialect::Json, server),
            hooks_file(directory.join("settings.json"), hooks, None),
            // Claude Code does not read `.agents/skills`.
            skill_file(&directory.join("skills")),
        ],
        former: Vec::new(),
        notes,
    }
}

pub(super) fn config_paths(places: &Places) -> Vec<PathBuf> {
    vec![directory(places), user_servers(places)]
}

fn directory(places: &Places) -> PathBuf {
    places.claude_config_dir.clone().unwrap_or_else(|| places.user_home.join(".claude"))
}

/// The file that also has the program's state, next to the directory unless that was moved.
fn user_servers(places: &Places) -> PathBuf {
    places.claude_config_dir.as_ref().unwrap_or(&places.user_home).join(".claude.json")
}
