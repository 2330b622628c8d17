//! Codex: MCP servers in `config.toml`, hooks in `hooks.json`.

use std::path::PathBuf;

use super::{EventName, HostFiles, event, hooks, hooks_file, shared_skill_file};
use crate::{
    content::{FileContent, HostFile},
    host::{HookEvent, Host},
    json_hooks::HookShape,
    places::{Level, Places, Program},
    toml::TomlEntry,
};

/// Timeouts are in seconds. Codex warns if that of `SessionEnd` is above 3.
const EVENTS: [EventName; 5] = [
    event(HookEvent::SessionStart, "SessionStart", 5),
    event(HookEvent::PromptSubmit, "UserPromptSubmit", 5),
    event(HookEvent::BeforeCompaction, "PreCompact", 10),
    event(HookEvent::TurnEnd, "Stop", 10),
    event(HookEvent::SessionEnd, "SessionEnd", 3),
];

pub(super) fn files(level: &Level, places: &Places, program: &Program) -> HostFiles {
    let directory = match level {
        Level::User => directory(places),
        Level::Project(project) => project.join(".codex"),
    };
    let server = TomlEntry {
        parent: "mcp_servers",
        command: program.path.clone(),
        arguments: program.server_arguments(),
    };
    let servers = HostFile {
        path: directory.join("config.toml"),
        content: FileContent::Toml(server),
        is_private: *level == Level::User,
    };
    let hooks = hooks(Host::Codex, HookShape::Grouped, &EVENTS, program);
    let mut notes = vec![
        "Codex skips new hooks until you trust them: Start `codex`, enter `/hooks` and trust those of Memoir."
            .to_owned(),
    ];
    if matches!(level, Level::Project(_)) {
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
