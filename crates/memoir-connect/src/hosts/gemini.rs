//! Gemini CLI: MCP servers and hooks in `settings.json`.

use super::{EventName, HostFiles, event, hooks, server_entry, shared_skill_file};
use crate::{
    content::{FileContent, HostFile},
    host::{HookEvent, Host},
    json_config::JsonConfig,
    json_hooks::HookShape,
    jsonc::Dialect,
    places::{Level, Places, Program},
};

/// Timeouts are in milliseconds.
const EVENTS: [EventName; 5] = [
    event(HookEvent::SessionStart, "SessionStart", 5000),
    event(HookEvent::PromptSubmit, "BeforeAgent", 5000),
    event(HookEvent::BeforeCompaction, "PreCompress", 10_000),
    event(HookEvent::TurnEnd, "AfterAgent", 10_000),
    event(HookEvent::SessionEnd, "SessionEnd", 5000),
];

pub(super) fn files(level: &Level, places: &Places, program: &Program) -> HostFiles {
    let parent = level.agents_parent(places);
    let config = JsonConfig {
        // Gemini accepts comments, and refuses to start if there is a trailing comma.
        dialect: Dialect::Json,
        server: Some(server_entry("mcpServers", &[], program)),
        hooks: Some(hooks(Host::Gemini, HookShape::GroupedWithNames, &EVENTS, program)),
        version: None,
    };
    let settings = HostFile {
        path: parent.join(".gemini/settings.json"),
        content: FileContent::Json(config),
        is_private: *level == Level::User,
    };
    HostFiles {
        files: vec![settings, shared_skill_file(level, places)],
        former: Vec::new(),
        notes: vec!["Gemini CLI starts MCP servers only in folders that you trust.".to_owned()],
    }
}
