//! The events of other programs, as they describe them on stdin.

use std::path::PathBuf;

use memoir_core::ExchangeSource;
use memoir_import::HistoryFormat;
use serde_json::Value;

/// A program that runs hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookHost {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// opencode, through a plugin.
    OpenCode,
    /// VS Code, in its agent mode.
    VsCode,
}

impl HookHost {
    /// All programs, in the order in which help lists them.
    pub const ALL: [Self; 6] =
        [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Gemini, Self::OpenCode, Self::VsCode];

    /// Returns the name that the command line uses.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::VsCode => "vscode",
        }
    }

    /// Returns the format of the program's sessions, if Memoir can follow them.
    pub const fn format(self) -> Option<HistoryFormat> {
        match self {
            Self::ClaudeCode => Some(HistoryFormat::ClaudeCode),
            Self::Codex => Some(HistoryFormat::Codex),
            Self::Gemini => Some(HistoryFormat::GeminiCli),
            Self::OpenCode => Some(HistoryFormat::OpenCode),
            Self::Cursor | Self::VsCode => None,
        }
    }
}

/// Why a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartCause {
    /// It is new.
    New,
    /// An earlier session continues.
    Resumed,
    /// The program has replaced the session by a summary.
    Compacted,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookKind {
    /// The user has sent a prompt.
    Prompt(String),
    /// A session starts.
    Start(StartCause),
    /// The program is about to replace the session by a summary.
    BeforeCompaction,
    /// The model has answered.
    TurnEnd,
    /// The session ends.
    SessionEnd,
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEvent {
    /// Program that runs the hook.
    pub host: HookHost,
    /// The program's name of the event.
    pub name: String,
    /// What happened.
    pub kind: HookKind,
    /// The program's id of the session.
    pub session: String,
    /// Directory that the program works in.
    pub directory: Option<PathBuf>,
    /// File in which the program records the session.
    pub transcript: Option<PathBuf>,
}

/// Size in bytes of a session that takes longer to read than a program may wait.
const LENGTHY: u64 = 8 * 1024 * 1024;

impl HookEvent {
    /// Returns whether the session takes longer to read than the program may wait.
    pub fn is_lengthy(&self) -> bool {
        let file = self.transcript.as_ref().and_then(|transcript| transcript.metadata().ok());
        file.is_some_and(|file| file.len() > LENGTHY)
    }

    /// Returns whether the program gets no reply, because the session is only stored.
    pub fn only_stores(&self) -> bool {
        matches!(self.kind, HookKind::BeforeCompaction | HookKind::TurnEnd | HookKind::SessionEnd)
    }
}

/// The reason why a hook does nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// The description is not a JSON object. Contains the reason.
    #[error("the description of the event is not a JSON object: {0}")]
    InvalidInput(String),
    /// The event has no meaning for memory. Contains its name.
    #[error("nothing happens at the event {0:?}")]
    UnknownEvent(String),
    /// The description lacks the session or the prompt.
    #[error("the description of the event has no {0}")]
    Missing(&'static str),
}

impl HookEvent {
    /// Reads the description of an event. `name` is the name from the command line, which may be Memoir's or the program's.
    ///
    /// # Errors
    ///
    /// Fails if the description is incomplete, or if nothing happens at this event.
    pub fn parse(host: HookHost, name: &str, input: &str) -> Result<Self, HookError> {
        let value: Value =
            serde_json::from_str(input).map_err(|error| HookError::InvalidInput(error.to_string()))?;
        if !value.is_object() {
            return Err(HookError::InvalidInput("it is another value".to_owned()));
        }
        let text = |names: &[&str]| {
            names.iter().find_map(|name| value.get(*name)?.as_str()).filter(|text| !text.is_empty())
        };
        let workspace = value.pointer("/workspace_roots/0").and_then(Value::as_str);
        let kind = match normalize(name).as_str() {
            "promptsubmit" | "userpromptsubmit" | "beforesubmitprompt" | "beforeagent" => {
                let prompt = strip_added(text(&["prompt"]).ok_or(HookError::Missing("prompt"))?);
                HookKind::Prompt(prompt.trim().to_owned())
            }
            "sessionstart" => HookKind::Start(match text(&["source"]) {
                Some("compact") => StartCause::Compacted,
                Some("resume" | "fork") => StartCause::Resumed,
                _ => StartCause::New,
            }),
            "beforecompaction" | "precompact" | "precompress" => HookKind::BeforeCompaction,
            "turnend" | "stop" | "afteragent" => HookKind::TurnEnd,
            "sessionend" => HookKind::SessionEnd,
            _ => return Err(HookError::UnknownEvent(name.to_owned())),
        };
        let session = text(&["session_id", "sessionId", "conversation_id"]);
        Ok(Self {
            host,
            // A reply must name the event as the program does.
            name: text(&["hook_event_name", "hookEventName"]).unwrap_or(name).to_owned(),
            kind,
            session: session.ok_or(HookError::Missing("session"))?.to_owned(),
            directory: text(&["cwd"]).or(workspace).map(PathBuf::from),
            transcript: text(&["transcript_path", "transcriptPath"]).map(PathBuf::from),
        })
    }

    /// Returns the program and session, as they are stored with exchanges.
    pub fn source(&self) -> ExchangeSource {
        let program = self.host.format().map_or_else(|| self.host.tag(), HistoryFormat::tag);
        ExchangeSource { program: program.to_owned(), session: self.session.clone() }
    }
}

/// Returns the name of an event in lower case, without separators. Programs spell the same event differently.
fn normalize(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Removes what hooks added to a prompt. Gemini CLI passes it on in front of the prompt.
fn strip_added(prompt: &str) -> String {
    let mut rest = prompt;
    let mut text = String::new();
    while let Some((before, after)) = rest.split_once("<hook_context>") {
        text.push_str(before);
        rest = after.split_once("</hook_context>").map_or("", |(_, after)| after);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn events_of_every_program_are_understood() {
        let prompt = HookKind::Prompt("Where is the key?".to_owned());
        let common = r#""session_id":"s","transcript_path":"/t.jsonl","cwd":"/p""#;
        for (host, name, input, kind) in [
            (
                HookHost::ClaudeCode,
                "UserPromptSubmit",
                format!(r#"{{{common},"prompt":"Where is the key?"}}"#),
                prompt.clone(),
            ),
            (
                HookHost::Gemini,
                "BeforeAgent",
                format!(r#"{{{common},"prompt":"<hook_context>x</hook_context>Where is the key?"}}"#),
                prompt.clone(),
            ),
            (
                HookHost::Codex,
                "SessionStart",
                format!(r#"{{{common},"source":"compact"}}"#),
                HookKind::Start(StartCause::Compacted),
            ),
            (HookHost::Codex, "Stop", format!("{{{common}}}"), HookKind::TurnEnd),
            (HookHost::Gemini, "PreCompress", format!("{{{common}}}"), HookKind::BeforeCompaction),
            (HookHost::ClaudeCode, "session-end", format!("{{{common}}}"), HookKind::SessionEnd),
            (HookHost::Cursor, "turn-end", format!("{{{common}}}"), HookKind::TurnEnd),
        ] {
            let event = HookEvent::parse(host, name, &input).unwrap();
            assert_eq!((&event.kind, event.session.as_str()), (&kind, "s"), "{name}");
            assert_eq!(event.directory, Some(PathBuf::from("/p")));
            assert_eq!(event.transcript, Some(PathBuf::from("/t.jsonl")));
        }
        let input = r#"{"conversation_id":"c","workspace_roots":["/w"],"prompt":"Where is the key?","transcript_path":null}"#;
        let event = HookEvent::parse(HookHost::Cursor, "beforeSubmitPrompt", input).unwrap();
        assert_eq!((event.kind, event.directory), (prompt, Some(PathBuf::from("/w"))));
    }

    #[test]
    fn other_input_is_refused() {
        for (name, input) in [
            ("Stop", ""),
            ("Stop", "[]"),
            ("Stop", "{}"),
            ("Stop", "{\"session_id\":7}"),
            ("UserPromptSubmit", "{\"session_id\":\"s\"}"),
            ("PreToolUse", "{\"session_id\":\"s\"}"),
        ] {
            assert!(HookEvent::parse(HookHost::ClaudeCode, name, input).is_err(), "{name} {input}");
        }
    }
}
