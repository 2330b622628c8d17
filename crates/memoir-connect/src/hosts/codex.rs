//! Codex: MCP servers in `config.toml`, hooks in `hooks.json`.

use std::path::PathBuf;

use super::{EventName, HostFiles, event, hooks, hooks_file, shared_skill_file};
use crate::{
    content::{HostContent, HostFile},
    host::{HookMoment, Host},
    json_hooks::HookShape,
    places::{ConfigLevel, MemoirCommand, Places},
    toml::TomlEntry,
};

/// Timeouts are in seconds. Codex warns if that of `SessionEnd` is above 3.
const EVENTS: [EventName; 5] = [
    event(HookMoment::SessionStart, "SessionStart", 5),
    event(HookMoment::PromptSubmit, "UserPromptSubmit", 5),
    event(HookMoment::BeforeCompaction, "PreCompact", 10),
    event(HookMoment::TurnEnd, "Stop", 10),
    event(HookMoment::SessionEnd, "SessionEnd", 3),
];

pub(super) fn files(level: &ConfigLevel, places: &Places, program: &MemoirCommand) -> HostFiles {
    let directory = match level {
        ConfigLevel::User => directory(places),
        ConfigLevel::Project(project) => project.join(".codex"),
    };
    let server = TomlEntry {
        parent: "mcp_servers",
        command: program.path.clone(),
        arguments: program.server_arguments(),
    };
    let servers = HostFile {
        path: directory.join("config.toml"),
        content: HostContent::Toml(server),
        is_private: *level == ConfigLevel::User,
    };
    let hooks = hooks(Host::Codex, HookShape::Grouped, &EVENTS, program);
    let mut notes = vec![
        "Codex skips new hooks until you trust them. Start `codex`, enter `/hooks` and trust those of Memoir."
            .to_owned(),
    ];
    if matches!(level, ConfigLevel::Project(_)) {
        notes.push("Codex reads the configuration of a project only if you trust the project.".to_owned());
    }
    HostFiles {
        files: vec![
            servers,
            hooks_file(directory.join("hooks.json"), hooks, None),
            shared_skill_file(level, places),
        ],
        former: Vec::new(),
        notes,
    }
}

pub(super) fn directory(places: &Places) -> PathBuf {
    places.codex_home.clone().unwrap_or_else(|| places.user_home.join(".codex"))
}
