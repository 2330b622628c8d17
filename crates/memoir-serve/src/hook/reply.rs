//! The replies that programs expect on stdout.

use serde_json::json;

use super::{HookEvent, HookHost};

/// Returns the reply that adds a text to the session.
pub(super) fn format(event: &HookEvent, text: &str) -> String {
    match event.host {
        HookHost::Cursor => json!({"additional_context": text}),
        HookHost::ClaudeCode | HookHost::Codex | HookHost::Gemini | HookHost::OpenCode | HookHost::VsCode => {
            json!({"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}})
        }
    }
    .to_string()
}
