//! The expected entries of each host, as its documentation describes them.

use memoir_connect::Host;
use serde_json::{Value, json};

/// How a hook is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Grouped,
    Named,
    Flat,
}

/// The JSON files of a host, as its documentation describes them.
pub(crate) struct Expected {
    pub(crate) host: Host,
    pub(crate) server_file: Option<&'static str>,
    pub(crate) servers: &'static str,
    pub(crate) entry: Value,
    pub(crate) hook_file: Option<&'static str>,
    pub(crate) shape: Shape,
    /// Event, tag of the command, and timeout.
    pub(crate) events: Vec<(&'static str, &'static str, u32)>,
    pub(crate) version: Option<u32>,
    pub(crate) allows_trailing_commas: bool,
}

pub(crate) fn expected(host: Host) -> Expected {
    let command = "/opt/memoir/bin/memoir";
    let plain = json!({"command": command, "args": ["mcp", "serve"]});
    let stdio = json!({"type": "stdio", "command": command, "args": ["mcp", "serve"]});
    let events = |names: [&'static str; 5], timeouts: [u32; 5]| {
        let tags = ["session-start", "prompt-submit", "before-compaction", "turn-end", "session-end"];
        names.into_iter().zip(tags).zip(timeouts).map(|((name, tag), limit)| (name, tag, limit)).collect()
    };
    let claude = ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"];
    let base = Expected {
        host,
        server_file: None,
        servers: "mcpServers",
        entry: plain,
        hook_file: None,
        shape: Shape::Grouped,
        events: Vec::new(),
        version: None,
        allows_trailing_commas: false,
    };
    match host {
        Host::ClaudeCode => Expected {
            server_file: Some(".claude.json"),
            entry: stdio,
            hook_file: Some(".claude/settings.json"),
            events: events(claude, [5, 5, 10, 10, 5]),
            ..base
        },
        Host::Codex => Expected {
            hook_file: Some(".codex/hooks.json"),
            events: events(claude, [5, 5, 10, 10, 3]),
            ..base
        },
        Host::Gemini => Expected {
            server_file: Some(".gemini/settings.json"),
            hook_file: Some(".gemini/settings.json"),
            shape: Shape::Named,
            events: events(
                ["SessionStart", "BeforeAgent", "PreCompress", "AfterAgent", "SessionEnd"],
                [5000, 5000, 10_000, 10_000, 5000],
            ),
            ..base
        },
        Host::Cursor => Expected {
            server_file: Some(".cursor/mcp.json"),
            entry: stdio,
            hook_file: Some(".cursor/hooks.json"),
            shape: Shape::Flat,
            events: events(
                ["sessionStart", "beforeSubmitPrompt", "preCompact", "stop", "sessionEnd"],
                [5, 5, 10, 10, 5],
            ),
            version: Some(1),
            ..base
        },
        Host::OpenCode => Expected {
            server_file: Some(".config/opencode/opencode.json"),
            servers: "mcp",
            entry: json!({"type": "local", "command": [command, "mcp", "serve"], "enabled": true}),
            allows_trailing_commas: true,
            ..base
        },
        Host::Zed => Expected {
            server_file: Some(".config/zed/settings.json"),
            servers: "context_servers",
            entry: json!({"source": "custom", "command": command, "args": ["mcp", "serve"]}),
            allows_trailing_commas: true,
            ..base
        },
        Host::VsCode => Expected {
            server_file: Some(".config/Code/User/mcp.json"),
            servers: "servers",
            entry: stdio,
            allows_trailing_commas: true,
            ..base
        },
        Host::Windsurf => Expected { server_file: Some(".codeium/windsurf/mcp_config.json"), ..base },
    }
}

impl Expected {
    pub(crate) fn files(&self) -> Vec<&'static str> {
        let mut files: Vec<_> = self.server_file.into_iter().chain(self.hook_file).collect();
        files.dedup();
        files
    }

    pub(crate) fn marker(&self) -> String {
        format!(" hook --host {} ", self.host.tag())
    }

    /// Returns the value of a file after connecting.
    pub(crate) fn connected(&self, file: &str, before: &Value) -> Value {
        let mut root = before.clone();
        if self.server_file == Some(file) {
            let entry = &mut root[self.servers]["memoir"];
            for (key, value) in self.entry.as_object().unwrap() {
                entry[key] = value.clone();
            }
        }
        if self.hook_file == Some(file) {
            if let Some(version) = self.version
                && root.get("version").is_none()
            {
                root["version"] = json!(version);
            }
            for (event, tag, timeout) in &self.events {
                let command = format!("/opt/memoir/bin/memoir hook --host {} {tag}", self.host.tag());
                let array = &mut root["hooks"][event];
                if !self.replace_command(array, &command) {
                    if array.is_null() {
                        *array = json!([]);
                    }
                    array.as_array_mut().unwrap().push(self.hook(&command, *timeout));
                }
            }
        }
        root
    }

    fn hook(&self, command: &str, timeout: u32) -> Value {
        match self.shape {
            Shape::Flat => json!({"command": command, "timeout": timeout}),
            Shape::Grouped => {
                json!({"hooks": [{"type": "command", "command": command, "timeout": timeout}]})
            }
            Shape::Named => json!({"hooks": [
                {"type": "command", "name": "memoir", "command": command, "timeout": timeout}
            ]}),
        }
    }

    fn replace_command(&self, array: &mut Value, command: &str) -> bool {
        let groups = array.as_array_mut().into_iter().flatten();
        let handlers: Vec<&mut Value> = match self.shape {
            Shape::Flat => groups.collect(),
            _ => groups.filter_map(|group| group["hooks"].as_array_mut()).flatten().collect(),
        };
        let own = handlers
            .into_iter()
            .find(|handler| handler["command"].as_str().is_some_and(|text| text.contains(&self.marker())));
        own.map(|handler| handler["command"] = json!(command)).is_some()
    }

    /// Returns a value without Memoir's keys.
    pub(crate) fn stripped(&self, file: &str, before: &Value) -> Value {
        let mut root = before.clone();
        if self.server_file == Some(file)
            && let Some(servers) = root.get_mut(self.servers).and_then(Value::as_object_mut)
        {
            servers.remove("memoir");
        }
        let is_own =
            |handler: &Value| handler["command"].as_str().is_some_and(|text| text.contains(&self.marker()));
        if self.hook_file == Some(file)
            && let Some(events) = root.get_mut("hooks").and_then(Value::as_object_mut)
        {
            for array in events.values_mut().filter_map(Value::as_array_mut) {
                array.retain_mut(|group| match group.get_mut("hooks").and_then(Value::as_array_mut) {
                    Some(handlers) => {
                        let had_own = handlers.iter().any(is_own);
                        handlers.retain(|handler| !is_own(handler));
                        !(had_own && handlers.is_empty())
                    }
                    None => !is_own(group),
                });
            }
        }
        root
    }
}
