//! Cursor: MCP servers in `mcp.json`, hooks in `hooks.json`.

use super::{EventName, HostFiles, event, hooks, hooks_file, server_entry, server_file, shared_skill_file};
use crate::{
    host::{HookMoment, Host},
    json_hooks::HookShape,
    jsonc::JsonDialect,
    places::{ConfigLevel, MemoirCommand, Places},
};

/// Timeouts are in seconds.
const EVENTS: [EventName; 5] = [
    event(HookMoment::SessionStart, "sessionStart", 5),
    event(HookMoment::PromptSubmit, "beforeSubmitPrompt", 5),
    event(HookMoment::BeforeCompaction, "preCompact", 10),
    event(HookMoment::TurnEnd, "stop", 10),
    event(HookMoment::SessionEnd, "sessionEnd", 5),
];

/// Version of the format of `hooks.json`.
const HOOKS_VERSION: u32 = 1;

pub(super) fn files(level: &ConfigLevel, places: &Places, program: &MemoirCommand) -> HostFiles {
    let directory = level.agents_parent(places).join(".cursor");
    let server = server_entry("mcpServers", &[("type", "stdio")], program);
    let hooks = hooks(Host::Cursor, HookShape::Flat, &EVENTS, program);
    HostFiles {
        files: vec![
            server_file(directory.join("mcp.json"), level, JsonDialect::Json, server),
            hooks_file(directory.join("hooks.json"), hooks, Some(HOOKS_VERSION)),
            shared_skill_file(level, places),
        ],
        former: Vec::new(),
        notes: vec![
            "Cursor also runs the hooks of Claude Code. If both are connected, it calls Memoir twice."
                .to_owned(),
        ],
    }
}
