//! One line of a session file, with the fields that the import needs.

use memoir_core::Role;
use serde::Deserialize;

use crate::{
    blocks::{Body, ContentPiece},
    json::Lenient,
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SessionLine {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    message: Lenient<SessionMessage>,
    attachment: Lenient<SessionAttachment>,
    origin: Lenient<PromptOrigin>,
    pub(super) timestamp: Lenient<String>,
    pub(super) session_id: Lenient<String>,
    pub(super) cwd: Lenient<String>,
    pub(super) uuid: Lenient<String>,
    pub(super) parent_uuid: Lenient<String>,
    /// The parent before a compaction, which clears `parent_uuid`.
    pub(super) logical_parent_uuid: Lenient<String>,
    pub(super) is_sidechain: Lenient<bool>,
    is_meta: Lenient<bool>,
    is_compact_summary: Lenient<bool>,
    pub(super) summary: Lenient<String>,
    /// The last line that a summary covers.
    pub(super) leaf_uuid: Lenient<String>,
    pub(super) custom_title: Lenient<String>,
    pub(super) ai_title: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionMessage {
    id: Lenient<String>,
    model: Lenient<String>,
    content: Lenient<Body>,
    stop_reason: Lenient<String>,
}

/// Extra data of a line. A prompt typed while the model works is recorded only here.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SessionAttachment {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    prompt: Lenient<Body>,
    command_mode: Lenient<String>,
    origin: Lenient<PromptOrigin>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptOrigin {
    kind: Lenient<String>,
}

/// Model name of messages that Claude Code wrote itself.
const NO_MODEL: &str = "<synthetic>";

impl SessionLine {
    fn kind(&self) -> &str {
        self.kind.text().unwrap_or_default()
    }

    /// Returns whether only Claude Code writes lines like this one.
    pub(super) fn is_claude_code_line(&self) -> bool {
        let has_id = self.uuid.text().is_some() || self.session_id.text().is_some();
        match self.kind() {
            "summary" => self.summary.0.is_some(),
            "file-history-snapshot" => true,
            "user" | "assistant" => has_id && self.message.0.is_some(),
            kind => has_id && !kind.is_empty(),
        }
    }

    /// Returns whether the line only sets the title of a session.
    pub(super) fn is_title(&self) -> bool {
        matches!(self.kind(), "summary" | "custom-title" | "ai-title")
    }

    /// Returns the role of the line's message, if it has one. Tool results have the user's role.
    pub(super) fn speaker(&self) -> Option<Role> {
        match self.kind() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            "attachment" => {
                self.attachment.0.as_ref().filter(|attachment| attachment.is_typed()).map(|_| Role::User)
            }
            _ => None,
        }
    }

    /// Returns whether Claude Code wrote the message on behalf of the user or the model.
    pub(super) fn is_by_program(&self) -> bool {
        let message = self.message.0.as_ref();
        self.is_meta.is_true()
            || self.is_compact_summary.is_true()
            || is_foreign(&self.origin)
            || message.is_some_and(|message| message.model.text() == Some(NO_MODEL))
    }

    pub(super) fn body(&self) -> Option<&Body> {
        let queued_prompt = || self.attachment.0.as_ref()?.prompt.0.as_ref();
        self.message.0.as_ref().and_then(|message| message.content.0.as_ref()).or_else(queued_prompt)
    }

    pub(super) fn is_tool_result(&self) -> bool {
        let pieces = self.body().map(|body| body.pieces(|kind| kind == "text")).unwrap_or_default();
        pieces.iter().any(|piece| matches!(piece, ContentPiece::Other("tool_result")))
    }

    pub(super) fn model(&self) -> Option<&str> {
        self.message.0.as_ref()?.model.text().filter(|model| *model != NO_MODEL)
    }

    /// Returns whether the line ends the turn of the model.
    pub(super) fn has_ended(&self) -> bool {
        let reason = self.message.0.as_ref().and_then(|message| message.stop_reason.text());
        reason.is_some_and(|reason| !matches!(reason, "tool_use" | "pause_turn"))
    }

    /// Returns the id shared by all lines of one answer.
    pub(super) fn answer_id(&self) -> Option<&str> {
        self.message.0.as_ref()?.id.text().filter(|_| self.speaker() == Some(Role::Assistant))
    }
}

impl SessionAttachment {
    fn is_typed(&self) -> bool {
        self.kind.text() == Some("queued_command")
            && self.command_mode.text().is_none_or(|mode| mode == "prompt")
            && !is_foreign(&self.origin)
    }
}

/// Returns whether something other than the user wrote the prompt.
fn is_foreign(origin: &Lenient<PromptOrigin>) -> bool {
    origin.0.as_ref().and_then(|origin| origin.kind.text()).is_some_and(|kind| kind != "human")
}
