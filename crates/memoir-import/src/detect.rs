//! Recognises the format of a file by its beginning.

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    json::{self, Lenient},
    whatsapp,
};

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HistoryFormat {
    /// ChatGPT's data export.
    ChatGpt,
    /// Claude.ai's data export.
    Claude,
    /// A session of Claude Code.
    ClaudeCode,
    /// A session of the Codex CLI.
    Codex,
    /// Memoir's own.
    Memoir,
    /// A chat that WhatsApp exported.
    WhatsApp,
}

impl HistoryFormat {
    /// What the program is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChatGpt => "ChatGPT",
            Self::Claude => "Claude",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Memoir => "Memoir",
            Self::WhatsApp => "WhatsApp",
        }
    }
}

/// An array's first conversation names its keys within so many bytes, even behind a long summary.
const HEAD: usize = 256 * 1024;

/// So many lines are looked at: the first ones may be cut off, or say nothing of their kind.
const LINES: usize = 20;

/// Returns the format of a text, judged by its beginning; `None` if it is none of them.
pub fn detect_format(text: &str) -> Option<HistoryFormat> {
    let text = json::without_mark(text).trim_start();
    if let Some(rest) = text.strip_prefix('[')
        && rest.trim_start().starts_with('{')
    {
        return detect_array(text);
    }
    if text.starts_with('{') {
        return json::lines(text).take(LINES).find_map(detect_line);
    }
    text.lines().take(LINES).any(whatsapp::begins_message).then_some(HistoryFormat::WhatsApp)
}

fn detect_array(text: &str) -> Option<HistoryFormat> {
    let head = &text[..text.floor_char_boundary(HEAD)];
    let formats = [("\"mapping\"", HistoryFormat::ChatGpt), ("\"chat_messages\"", HistoryFormat::Claude)];
    let first = formats.into_iter().filter_map(|(key, format)| Some((key_at(head, key)?, format)));
    first.min_by_key(|(place, _)| *place).map(|(_, format)| format)
}

/// Where a key stands. In a text its quotes would be escaped, and as a value nothing would be assigned to it.
fn key_at(head: &str, key: &str) -> Option<usize> {
    let is_key = |place: &usize| head[place + key.len()..].trim_start().starts_with(':');
    head.match_indices(key).map(|(place, _)| place).find(is_key)
}

/// What tells the lines of different programs apart.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LineFields {
    kind: Lenient<String>,
    r#type: Lenient<String>,
    payload: Lenient<IgnoredAny>,
    role: Lenient<String>,
    id: Lenient<String>,
    timestamp: Lenient<String>,
    session_id: Lenient<String>,
    uuid: Lenient<String>,
    leaf_uuid: Lenient<String>,
    message_id: Lenient<String>,
}

fn detect_line(line: &str) -> Option<HistoryFormat> {
    let fields: LineFields = serde_json::from_str(line).ok()?;
    if fields.kind.text() == Some("memoir") {
        return Some(HistoryFormat::Memoir);
    }
    let of_claude_code = [&fields.session_id, &fields.uuid, &fields.leaf_uuid, &fields.message_id];
    match fields.r#type.text() {
        Some("session_meta" | "response_item" | "event_msg" | "turn_context")
            if fields.payload.0.is_some() =>
        {
            Some(HistoryFormat::Codex)
        }
        Some(_) if of_claude_code.iter().any(|id| id.text().is_some()) => Some(HistoryFormat::ClaudeCode),
        Some("message") if fields.role.text().is_some() => Some(HistoryFormat::Codex),
        None if fields.id.text().is_some() && fields.timestamp.moment().is_some() => {
            Some(HistoryFormat::Codex)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_told_by_its_beginning() {
        for (text, format) in [
            ("\u{feff}[\n {\"title\": \"mapping\", \"mapping\": {", Some(HistoryFormat::ChatGpt)),
            (
                "[{\"uuid\":\"1\",\"name\":\"mapping\",\"chat_messages\":[{\"text\":\"\\\"mapping\\\": 1\"}]}]",
                Some(HistoryFormat::Claude),
            ),
            ("{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"1\"}", Some(HistoryFormat::ClaudeCode)),
            ("{cut off\n{\"type\":\"user\",\"uuid\":\"1\",\"message\":{}}", Some(HistoryFormat::ClaudeCode)),
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
}
