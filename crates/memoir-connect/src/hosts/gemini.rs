//! Gemini CLI: MCP servers and hooks in `settings.json`.

use super::{EventName, HostFiles, event, hooks, server_entry, shared_skill_file};
use crate::{
    content::{HostContent, HostFile},
    host::{HookMoment, Host},
    json_config::JsonConfig,
    json_hooks::HookShape,
    jsonc::JsonDialect,
    places::{ConfigLevel, MemoirCommand, Places},
};

/// Timeouts are in milliseconds.
const EVENTS: [EventName; 5] = [
    event(HookMoment::SessionStart, "SessionStart", 5000),
    event(HookMoment::PromptSubmit, "BeforeAgent", 5000),
    event(HookMoment::BeforeCompaction, "PreCompress", 10_000),
    event(HookMoment::TurnEnd, "AfterAgent", 10_000),
    event(HookMoment::SessionEnd, "SessionEnd", 5000),
];

pub(super) fn files(level: &ConfigLevel, places: &Places, program: &MemoirCommand) -> HostFiles {
    let parent = level.agents_parent(places);
    let config = JsonConfig {
        // Gemini accepts comments, and refuses to start if there is a trailing comma.
        dialect: JsonDialect::Json,
        server: Some(server_entry("mcpServers", &[], program)),
        hooks: Some(hooks(Host::Gemini, HookShape::GroupedWithNames, &EVENTS, program)),
        version: None,
    };
    let settings = HostFile {
        path: parent.join(".gemini/settings.json"),
        content: HostContent::Json(config),
        is_private: *level == ConfigLevel::User,
    };
    HostFiles {
        files: vec![settings, shared_skill_file(level, places)],
        former: Vec::new(),
        notes: vec!["Gemini CLI starts MCP servers only in folders that you trust.".to_owned()],
    }
}
