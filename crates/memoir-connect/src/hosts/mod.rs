//! The files of each host. Every host has its own file here.

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod opencode;
mod vscode;
mod windsurf;
mod zed;

use std::path::{Path, PathBuf};

use crate::{
    content::{HostContent, HostFile},
    host::{HookMoment, Host},
    json_config::{FieldValue, JsonConfig, ServerEntry},
    json_hooks::{Hook, HookShape, Hooks},
    jsonc::JsonDialect,
    places::{ConfigLevel, MemoirCommand, Places, hook_marker},
    skill,
};

/// What connecting a host involves.
#[derive(Debug, Default)]
pub(crate) struct HostFiles {
    /// The files that are written.
    pub(crate) files: Vec<HostFile>,
    /// Files that may have been written before, when other directories existed. Only removal reads them.
    pub(crate) former: Vec<HostFile>,
    /// Sentences for the user.
    pub(crate) notes: Vec<String>,
}

/// Returns the files of a host.
pub(crate) fn files(host: Host, level: &ConfigLevel, places: &Places, program: &MemoirCommand) -> HostFiles {
    match host {
        Host::ClaudeCode => claude_code::files(level, places, program),
        Host::Codex => codex::files(level, places, program),
        Host::Gemini => gemini::files(level, places, program),
        Host::Cursor => cursor::files(level, places, program),
        Host::OpenCode => opencode::files(level, places, program),
        Host::Zed => zed::files(level, places, program),
        Host::VsCode => vscode::files(level, places, program),
        Host::Windsurf => windsurf::files(level, places, program),
    }
}

/// Returns the paths of which one exists if the host keeps its configuration here.
pub(crate) fn config_paths(host: Host, places: &Places) -> Vec<PathBuf> {
    match host {
        Host::ClaudeCode => claude_code::config_paths(places),
        Host::Codex => vec![codex::directory(places)],
        Host::Gemini => vec![places.user_home.join(".gemini")],
        Host::Cursor => vec![places.user_home.join(".cursor")],
        Host::OpenCode => vec![places.config_home.join("opencode")],
        Host::Zed => vec![zed::directory(places)],
        Host::VsCode => vec![vscode::directory(places)],
        Host::Windsurf => windsurf::directories(places).to_vec(),
    }
}

/// Returns the file of the skill in a directory of skills.
fn skill_file(skills: &Path) -> HostFile {
    text_file(skills.join(skill::SKILL_PATH), skill::SKILL.to_owned())
}

/// Returns the skill in the directory that most hosts share.
fn shared_skill_file(level: &ConfigLevel, places: &Places) -> HostFile {
    skill_file(&level.agents_parent(places).join(".agents/skills"))
}

fn text_file(path: PathBuf, text: String) -> HostFile {
    HostFile { path, content: HostContent::Text(text), is_private: false }
}

/// Returns a file with an MCP server. The user's own file may contain keys of other servers.
fn server_file(path: PathBuf, level: &ConfigLevel, dialect: JsonDialect, server: ServerEntry) -> HostFile {
    let config = JsonConfig { dialect, server: Some(server), hooks: None, version: None };
    HostFile { path, content: HostContent::Json(config), is_private: *level == ConfigLevel::User }
}

/// Returns the entry that most hosts use, after the given fields.
fn server_entry(
    parent: &'static str,
    first: &[(&'static str, &str)],
    program: &MemoirCommand,
) -> ServerEntry {
    let mut fields: Vec<_> =
        first.iter().map(|(key, value)| (*key, FieldValue::Text((*value).to_owned()))).collect();
    fields.push(("command", FieldValue::Text(program.path.clone())));
    fields.push(("args", FieldValue::List(program.server_arguments())));
    ServerEntry { parent, fields }
}

/// When a host runs a hook.
struct EventName {
    event: HookMoment,
    /// The host's name of the event.
    name: &'static str,
    /// Maximum running time in the host's unit.
    timeout: u32,
}

const fn event(event: HookMoment, name: &'static str, timeout: u32) -> EventName {
    EventName { event, name, timeout }
}

/// Returns the hooks of a host.
fn hooks(host: Host, shape: HookShape, events: &[EventName], program: &MemoirCommand) -> Hooks {
    let to_hook = |event: &EventName| Hook {
        event: event.name,
        command: program.hook_command(host, event.event),
        timeout: event.timeout,
    };
    Hooks { shape, marker: hook_marker(host), items: events.iter().map(to_hook).collect() }
}

/// Returns a file with hooks.
fn hooks_file(path: PathBuf, hooks: Hooks, version: Option<u32>) -> HostFile {
    let config = JsonConfig { dialect: JsonDialect::Json, server: None, hooks: Some(hooks), version };
    HostFile { path, content: HostContent::Json(config), is_private: false }
}
