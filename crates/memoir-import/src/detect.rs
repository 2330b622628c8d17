//! Recognizes the format of a file by its first lines.

use std::path::Path;

use serde::{Deserialize, Serialize, de::IgnoredAny};

use crate::{
    aichat,
    json::{self, Lenient},
    whatsapp,
};

/// A supported file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryFormat {
    /// aichat's sessions and `messages.md`.
    #[serde(rename = "aichat")]
    AiChat,
    /// ChatGPT's data export, a `conversations.json` file.
    #[serde(rename = "chatgpt")]
    ChatGpt,
    /// Claude.ai's data export, also a `conversations.json` file.
    Claude,
    /// A Claude Code session.
    ClaudeCode,
    /// A Codex CLI session.
    Codex,
    /// A Copilot CLI session.
    Copilot,
    /// Cursor's databases, named `state.vscdb`.
    Cursor,
    /// Gemini's activities in a Google Takeout, a `MyActivity.json` file.
    Gemini,
    /// A Gemini CLI session.
    GeminiCli,
    /// The log database of the `llm` command.
    Llm,
    /// A file written by `memoir export`.
    Memoir,
    /// opencode's sessions or database.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Chats exported from Open WebUI, or its database.
    #[serde(rename = "open-webui")]
    OpenWebUi,
    /// A chat that WhatsApp exported.
    #[serde(rename = "whatsapp")]
    WhatsApp,
}

impl HistoryFormat {
    /// All formats, sorted by name.
    pub const ALL: [Self; 14] = [
        Self::AiChat,
        Self::ChatGpt,
        Self::Claude,
        Self::ClaudeCode,
        Self::Codex,
        Self::Copilot,
        Self::Cursor,
        Self::Gemini,
        Self::GeminiCli,
        Self::Llm,
        Self::Memoir,
        Self::OpenCode,
        Self::OpenWebUi,
        Self::WhatsApp,
    ];

    /// Returns the name of the program that writes this format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AiChat => "aichat",
            Self::ChatGpt => "ChatGPT",
            Self::Claude => "Claude",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini",
            Self::GeminiCli => "Gemini CLI",
            Self::Llm => "llm",
            Self::Memoir => "Memoir",
            Self::OpenCode => "opencode",
            Self::OpenWebUi => "Open WebUI",
            Self::WhatsApp => "WhatsApp",
        }
    }

    /// Returns the name that the command line and origins in the store use.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::AiChat => "aichat",
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::GeminiCli => "gemini-cli",
            Self::Llm => "llm",
            Self::Memoir => "memoir",
            Self::OpenCode => "opencode",
            Self::OpenWebUi => "open-webui",
            Self::WhatsApp => "whatsapp",
        }
    }

    /// Returns whether every file has one session. Other files have any number of conversations.
    pub const fn has_session_files(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex | Self::Copilot | Self::GeminiCli)
    }

    /// Returns whether a file in a directory that the user has named, judged by its path, may have this format. Files
    /// that programs keep keys in are never included.
    pub fn includes_file(self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_below = |directory: &str| path.iter().rev().skip(1).any(|part| part == directory);
        let parent = path.parent().and_then(Path::file_name).unwrap_or_default();
        match self {
            Self::AiChat => name == "messages.md" || (name.ends_with(".yaml") && is_below("sessions")),
            Self::ChatGpt | Self::Claude => {
                name.starts_with("conversations") && (name.ends_with(".json") || name.ends_with(".zip"))
            }
            Self::ClaudeCode | Self::Codex | Self::Memoir => name.ends_with(".jsonl"),
            Self::Copilot => {
                name == "events.jsonl"
                    || (parent == "session-state" && name.ends_with(".jsonl"))
                    || (parent == "history-session-state" && name.ends_with(".json"))
            }
            Self::Cursor => name == "state.vscdb",
            // A Takeout has files of the same name from other products.
            Self::Gemini => {
                let path = path.to_string_lossy().to_lowercase();
                path.ends_with(".json") && (path.contains("gemini") || path.contains("bard"))
            }
            Self::GeminiCli => {
                let is_session = name.ends_with(".jsonl") || name.ends_with(".json");
                parent == "chats" && name.starts_with("session-") && is_session
            }
            Self::Llm => name == "logs.db",
            Self::OpenCode => {
                let is_session = name.starts_with("ses_") && name.ends_with(".json") && is_below("session");
                is_session || (name.starts_with("opencode") && name.ends_with(".db"))
            }
            Self::OpenWebUi => (name.contains("chat") && name.ends_with(".json")) || name == "webui.db",
            Self::WhatsApp => name.ends_with(".txt"),
        }
    }
}

/// Number of bytes of an array that are searched for known keys, enough to get past a long summary.
const MAX_BYTES: usize = 256 * 1024;

/// Number of lines that are inspected. The first ones may be damaged or not specific to a format.
const MAX_LINES: usize = 20;

/// Returns the format of a text, judged by its beginning, or `None` if the format is unknown.
pub fn detect_format(text: &str) -> Option<HistoryFormat> {
    let text = json::strip_bom(text).trim_start();
    if let Some(rest) = text.strip_prefix('[')
        && rest.trim_start().starts_with('{')
    {
        return detect_array(text);
    }
    if text.starts_with('{') {
        return json::lines(text).take(MAX_LINES).find_map(detect_line).or_else(|| detect_object(text));
    }
    if text.lines().next().is_some_and(aichat::starts_entry) || is_aichat_session(text) {
        return Some(HistoryFormat::AiChat);
    }
    text.lines().take(MAX_LINES).any(whatsapp::starts_message).then_some(HistoryFormat::WhatsApp)
}

/// Returns whether a text has the keys that every aichat session has.
fn is_aichat_session(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(MAX_BYTES)];
    let has_line = |prefix: &str| head.lines().any(|line| line.starts_with(prefix));
    has_line("model:") && (has_line("messages:") || has_line("compressed_messages:"))
}

fn detect_array(text: &str) -> Option<HistoryFormat> {
    let head = &text[..text.floor_char_boundary(MAX_BYTES)];
    let formats = [
        ("\"mapping\"", HistoryFormat::ChatGpt),
        ("\"chat_messages\"", HistoryFormat::Claude),
        ("\"chat\"", HistoryFormat::OpenWebUi),
        ("\"history\"", HistoryFormat::OpenWebUi),
        ("\"products\"", HistoryFormat::Gemini),
    ];
    let matches = formats.into_iter().filter_map(|(key, format)| Some((find_key(head, key)?, format)));
    matches.min_by_key(|(offset, _)| *offset).map(|(_, format)| format)
}

/// Detects an object that contains all conversations of a file.
fn detect_object(text: &str) -> Option<HistoryFormat> {
    let head = &text[..text.floor_char_boundary(MAX_BYTES)];
    let has_keys = |keys: &[&str]| keys.iter().all(|key| find_key(head, key).is_some());
    if has_keys(&["\"conversations\""]) {
        return detect_array(text);
    }
    let formats = [
        (&["\"sessionId\"", "\"projectHash\""], HistoryFormat::GeminiCli),
        (&["\"sessionId\"", "\"timeline\""], HistoryFormat::Copilot),
        (&["\"sessionId\"", "\"chatMessages\""], HistoryFormat::Copilot),
        (&["\"info\"", "\"messages\""], HistoryFormat::OpenCode),
        (&["\"chat\"", "\"messages\""], HistoryFormat::OpenWebUi),
    ];
    formats.into_iter().find(|(keys, _)| has_keys(&keys[..])).map(|(_, format)| format)
}

/// Returns the offset of a quoted key. Inside a string its quotes would be escaped, and a value is not
/// followed by a colon.
fn find_key(head: &str, key: &str) -> Option<usize> {
    let is_key = |offset: &usize| head[offset + key.len()..].trim_start().starts_with(':');
    head.match_indices(key).map(|(offset, _)| offset).find(is_key)
}

/// Fields that distinguish the lines of different programs.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LineFields {
    kind: Lenient<String>,
    r#type: Lenient<String>,
    payload: Lenient<IgnoredAny>,
    data: Lenient<IgnoredAny>,
    role: Lenient<String>,
    id: Lenient<String>,
    timestamp: Lenient<String>,
    session_id: Lenient<String>,
    uuid: Lenient<String>,
    leaf_uuid: Lenient<String>,
    message_id: Lenient<String>,
    project_hash: Lenient<String>,
    #[serde(rename = "$set")]
    update: Lenient<IgnoredAny>,
}

fn detect_line(line: &str) -> Option<HistoryFormat> {
    let fields: LineFields = serde_json::from_str(line).ok()?;
    if fields.kind.text() == Some("memoir") {
        return Some(HistoryFormat::Memoir);
    }
    let is_metadata = fields.session_id.text().is_some() && fields.project_hash.text().is_some();
    if is_metadata || fields.update.0.is_some() {
        return Some(HistoryFormat::GeminiCli);
    }
    let claude_code_ids = [&fields.session_id, &fields.uuid, &fields.leaf_uuid, &fields.message_id];
    match fields.r#type.text() {
        Some("session_meta" | "response_item" | "event_msg" | "turn_context")
            if fields.payload.0.is_some() =>
        {
            Some(HistoryFormat::Codex)
        }
        Some("session.start" | "session.resume" | "user.message" | "assistant.message")
            if fields.data.0.is_some() =>
        {
            Some(HistoryFormat::Copilot)
        }
        Some(_) if claude_code_ids.iter().any(|id| id.text().is_some()) => Some(HistoryFormat::ClaudeCode),
        Some("message") if fields.role.text().is_some() => Some(HistoryFormat::Codex),
        None if fields.id.text().is_some() && fields.timestamp.timestamp().is_some() => {
            Some(HistoryFormat::Codex)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_detected_by_its_beginning() {
        for (text, format) in [
            ("\u{feff}[\n {\"title\": \"mapping\", \"mapping\": {", Some(HistoryFormat::ChatGpt)),
            (
                "[{\"uuid\":\"1\",\"name\":\"mapping\",\"chat_messages\":[{\"text\":\"\\\"mapping\\\": 1\"}]}]",
                Some(HistoryFormat::Claude),
            ),
            ("{\"conversations\": [{\"id\": \"1\", \"mapping\": {", Some(HistoryFormat::ChatGpt)),
            ("{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"1\"}", Some(HistoryFormat::ClaudeCode)),
            ("{cut off\n{\"type\":\"user\",\"uuid\":\"1\",\"message\":{}}", Some(HistoryFormat::ClaudeCode)),
            (
                "{\"sessionId\":\"1\",\"projectHash\":\"0f\",\"kind\":\"main\"}",
                Some(HistoryFormat::GeminiCli),
            ),
            ("{cut off\n{\"$set\":{\"lastUpdated\":\"x\"}}", Some(HistoryFormat::GeminiCli)),
            (
                "{\n  \"sessionId\": \"1\",\n  \"projectHash\": \"0f\",\n  \"messages\": [",
                Some(HistoryFormat::GeminiCli),
            ),
            ("{\"timestamp\":\"x\",\"type\":\"session_meta\",\"payload\":{}}", Some(HistoryFormat::Codex)),
            (
                "{\"id\":\"1\",\"timestamp\":\"2025-05-07T17:24:21Z\",\"instructions\":null}",
                Some(HistoryFormat::Codex),
            ),
            ("{\"kind\":\"memoir\",\"format\":9}", Some(HistoryFormat::Memoir)),
            ("[31/12/2023, 22:15:30] Anna: hi", Some(HistoryFormat::WhatsApp)),
            ("31/12/23, 22:15 - Anna: hi", Some(HistoryFormat::WhatsApp)),
            ("Dear diary", None),
            ("{\"a\": 1}", None),
            ("[{\"a\": 1}]", None),
            ("", None),
        ] {
            assert_eq!(detect_format(text), format, "{text}");
        }
    }

    #[test]
    fn files_of_a_directory_are_chosen_by_their_paths() {
        for (format, path, is_included) in [
            (HistoryFormat::ChatGpt, "x/conversations-001.json", true),
            (HistoryFormat::ChatGpt, "x/user.json", false),
            (HistoryFormat::Gemini, "Takeout/My Activity/Gemini Apps/MyActivity.json", true),
            (HistoryFormat::Gemini, "Takeout/My Activity/YouTube/MyActivity.json", false),
            (HistoryFormat::OpenWebUi, "x/chat-export-1757000000000.json", true),
            (HistoryFormat::OpenWebUi, "x/config.json", false),
            (HistoryFormat::AiChat, "x/config.yaml", false),
        ] {
            assert_eq!(format.includes_file(Path::new(path)), is_included, "{path}");
        }
    }
}
